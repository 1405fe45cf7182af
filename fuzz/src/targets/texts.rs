//! Texts.

use super::{chosen, file};
use partita::report::Silent;
use partita_data::{TextOptions, read_texts};
use partita_embed::texts::Tfidf;

/// Texts in lines, JSON lines, or a column of a table; what is read is encoded by its words.
pub fn texts(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    let ending = [".txt", ".jsonl", ".csv", ".parquet", ".arrows"][usize::from(choice & 7) % 5];
    let column = [None, Some("text"), Some("title,text"), Some("1")][usize::from(choice >> 3 & 3)];
    let options = TextOptions {
        column: column.map(str::to_owned),
        id_column: (choice & 32 != 0).then(|| "id".to_owned()),
        header: [None, Some(true)][usize::from(choice >> 6 & 1)],
        memory: 1 << 16,
    };
    let file = file(ending, bytes);
    let Ok(table) = read_texts(file.path(), &options) else { return false };
    let text = |row: usize| table.texts.get(row);
    if let Ok(tfidf) = Tfidf::learn(table.texts.len(), text, &Silent) {
        let mut unknown = Vec::new();
        let rows = tfidf.features_of(table.texts.len(), text, 1 << 20, &mut unknown, &Silent);
        assert!(rows.is_ok() && Tfidf::read(&partita_embed::Encoder::stored(&tfidf)).is_ok());
    }
    true
}
