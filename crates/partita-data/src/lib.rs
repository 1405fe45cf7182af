//! Readers, writers and synthetic sets for Partita.
