#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| partita_fuzz::run(partita_fuzz::targets::texts, bytes));
