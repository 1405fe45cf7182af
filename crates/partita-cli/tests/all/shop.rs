//! The folder of a shop: a table of customers with ids, names, categories, dates, zip codes and gaps, the same as Parquet, and labels
//! by id.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::sync::Arc;

pub const ROWS: usize = 210;
/// Customers whose age is not known.
pub const GAPS: usize = 12;
pub const SEGMENTS: [&str; 3] = ["student", "manager", "retired"];

/// A row of the table.
pub struct Customer {
    pub id: String,
    name: String,
    country: &'static str,
    /// Days since 1970.
    since: i32,
    zip: String,
    pub age: Option<f64>,
    income: f64,
    visits: i64,
    member: bool,
    pub segment: usize,
}

/// Three segments that take turns, clearly apart in age, income and visits.
pub fn customers() -> Vec<Customer> {
    let customer = |i: usize| {
        let segment = i % 3;
        // From -1 to 1, different for each column.
        let noise = |column: usize| ((i * (37 + 22 * column) + 13 * column) % 101) as f64 / 50.0 - 1.0;
        let age = ([24.0, 45.0, 68.0][segment] + 4.0 * noise(0)).round();
        Customer {
            id: format!("C-{}", 1000 + 7 * i),
            name: format!("{} {}", ["Ana", "Ben", "Cem", "Dia"][i % 4], ["Ito", "Lee", "Moe"][i / 5 % 3]),
            country: ["DE", "FR", "JP", "BR"][i * i % 7 % 4],
            since: 16_436 + (i * 41 % 3000) as i32,
            zip: format!("{:05}", 1000 + (i * 7919) % 90_000),
            age: (i % 17 != 9).then_some(age),
            income: ([21_000.0, 64_000.0, 38_000.0][segment] + 4000.0 * noise(1)).round() + 0.25,
            visits: ([42.0, 9.0, 20.0][segment] + 3.0 * noise(2)).round() as i64,
            member: (i / 3).is_multiple_of(2),
            segment,
        }
    };
    (0..ROWS).map(customer).collect()
}

/// An order that is not that of the customers.
fn shuffled() -> Vec<Customer> {
    let mut all: Vec<Option<Customer>> = customers().into_iter().map(Some).collect();
    (0..ROWS).map(|i| all[(i * 37 + 11) % ROWS].take().unwrap()).collect()
}

fn text(header: &str, rows: &[Customer], line: impl Fn(&Customer) -> String) -> String {
    rows.iter().fold(format!("{header}\n"), |text, row| text + &line(row) + "\n")
}

/// The day as a table writes it, with months of 28 days, which is good enough for a column that is no feature.
fn date(days: i32) -> String {
    format!("{}-{:02}-{:02}", 1970 + days / 366, days / 28 % 12 + 1, days % 28 + 1)
}

fn age(c: &Customer) -> String {
    c.age.map(|age| age.to_string()).unwrap_or_default()
}

fn parquet(lab: &Lab, name: &str, rows: &[Customer]) {
    fn texts(values: impl Iterator<Item = String>) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values))
    }
    let countries = rows.iter().map(|c| c.country).collect::<DictionaryArray<Int32Type>>();
    let columns: [(&str, ArrayRef); 9] = [
        ("customer_id", texts(rows.iter().map(|c| c.id.clone()))),
        ("name", texts(rows.iter().map(|c| c.name.clone()))),
        ("country", Arc::new(countries)),
        ("signup_date", Arc::new(Date32Array::from_iter_values(rows.iter().map(|c| c.since)))),
        ("zip_code", texts(rows.iter().map(|c| c.zip.clone()))),
        ("age", Arc::new(Float64Array::from_iter(rows.iter().map(|c| c.age)))),
        ("income", Arc::new(Float64Array::from_iter_values(rows.iter().map(|c| c.income)))),
        ("visits", Arc::new(Int64Array::from_iter_values(rows.iter().map(|c| c.visits)))),
        ("member", Arc::new(BooleanArray::from_iter(rows.iter().map(|c| Some(c.member))))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(lab.path(name)).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// The folder: the table, the same as Parquet, the same in another order of rows and columns, and labels by id.
pub fn folder() -> Lab {
    let lab = Lab::new();
    let header = "customer_id,name,country,signup_date,zip_code,age,income,visits,member";
    let line = |c: &Customer| {
        let (since, age) = (date(c.since), age(c));
        format!(
            "{},{},{},{since},{},{age},{},{},{}",
            c.id, c.name, c.country, c.zip, c.income, c.visits, c.member
        )
    };
    lab.write("customers.csv", text(header, &customers(), line));
    parquet(&lab, "customers.parquet", &customers());
    let other = |c: &Customer| format!("{},{},{},{},{}", c.visits, c.name, c.id, age(c), c.income);
    lab.write("shuffled.csv", text("visits,name,customer_id,age,income", &shuffled(), other));
    let label = |c: &Customer| format!("{},{}", c.id, SEGMENTS[c.segment]);
    lab.write("segments.csv", text("customer_id,segment", &shuffled(), label));
    lab.write("known.csv", text("customer_id,segment", &shuffled()[..12], label));
    lab
}
