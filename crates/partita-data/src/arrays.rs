//! The values of Arrow arrays as numbers or text.

use crate::dates::{Moment, Order, parse};
use arrow_array::cast::AsArray;
use arrow_array::{Array, types};
use arrow_schema::{DataType, TimeUnit};
use half::f16;
use half::slice::HalfFloatSliceExt;

/// Apply a macro to the array as its own integer type.
macro_rules! for_integers {
    ($array:expr, $use:ident) => {
        match $array.data_type() {
            DataType::Int8 => $use!(types::Int8Type),
            DataType::Int16 => $use!(types::Int16Type),
            DataType::Int32 => $use!(types::Int32Type),
            DataType::Int64 => $use!(types::Int64Type),
            DataType::UInt8 => $use!(types::UInt8Type),
            DataType::UInt16 => $use!(types::UInt16Type),
            DataType::UInt32 => $use!(types::UInt32Type),
            DataType::UInt64 => $use!(types::UInt64Type),
            _ => None,
        }
    };
}

/// The values of a numeric array; one that is missing is not a number.
pub(crate) fn numbers(array: &dyn Array) -> Option<Vec<f32>> {
    let mut values = present(array)?;
    if array.null_count() > 0 {
        (0..values.len()).filter(|&i| array.is_null(i)).for_each(|i| values[i] = f32::NAN);
    }
    Some(values)
}

/// The values of a numeric array, whatever stands where they are missing.
fn present(array: &dyn Array) -> Option<Vec<f32>> {
    macro_rules! integers {
        ($t:ty) => {
            Some(array.as_primitive::<$t>().values().iter().map(|&v| v as f32).collect())
        };
    }
    match array.data_type() {
        DataType::Float32 => Some(array.as_primitive::<types::Float32Type>().values().to_vec()),
        DataType::Float64 => integers!(types::Float64Type),
        DataType::Float16 => {
            let halves: &[f16] = array.as_primitive::<types::Float16Type>().values();
            let mut out = vec![0f32; halves.len()];
            halves.convert_to_f32_slice(&mut out);
            Some(out)
        }
        DataType::Boolean => {
            Some(array.as_boolean().values().iter().map(|v| f32::from(u8::from(v))).collect())
        }
        _ => for_integers!(array, integers),
    }
}

/// The cells of a text or integer array as text; nulls are empty.
pub(crate) fn strings(array: &dyn Array) -> Option<Vec<String>> {
    fn owned<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Option<Vec<String>> {
        Some(cells.map(|c| c.unwrap_or_default().to_owned()).collect())
    }
    macro_rules! integers {
        ($t:ty) => {
            Some(
                array
                    .as_primitive::<$t>()
                    .iter()
                    .map(|v| v.map_or(String::new(), |v| v.to_string()))
                    .collect(),
            )
        };
    }
    match array.data_type() {
        DataType::Utf8 => owned(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => owned(array.as_string::<i64>().iter()),
        DataType::Utf8View => owned(array.as_string_view().iter()),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let words = strings(dictionary.values().as_ref())?;
            let keys = dictionary.normalized_keys();
            let word = |(row, key): (usize, usize)| match array.is_null(row) {
                true => String::new(),
                false => words.get(key).cloned().unwrap_or_default(),
            };
            Some(keys.into_iter().enumerate().map(word).collect())
        }
        _ => for_integers!(array, integers),
    }
}

/// Show each cell of a text array in order, without room for words that are repeated; nulls are empty. Whether it is such an array.
pub(crate) fn each_string<E>(
    array: &dyn Array,
    mut show: impl FnMut(&str) -> Result<(), E>,
) -> Result<bool, E> {
    fn all<'a, E>(
        mut cells: impl Iterator<Item = Option<&'a str>>,
        mut show: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        cells.try_for_each(|cell| show(cell.unwrap_or_default()))
    }
    match array.data_type() {
        DataType::Utf8 => all(array.as_string::<i32>().iter(), &mut show)?,
        DataType::LargeUtf8 => all(array.as_string::<i64>().iter(), &mut show)?,
        DataType::Utf8View => all(array.as_string_view().iter(), &mut show)?,
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let Some(words) = strings(dictionary.values().as_ref()) else { return Ok(false) };
            let keys = dictionary.normalized_keys();
            let word = |(row, key): (usize, usize)| {
                words.get(key).filter(|_| !array.is_null(row)).map(String::as_str)
            };
            all(keys.into_iter().enumerate().map(word), &mut show)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The cells of a column of labels as text; nulls are empty. Doubles stay doubles: `f32` has no room for large labels.
pub(crate) fn label_cells(array: &dyn Array) -> Option<Vec<String>> {
    fn as_text<T: ToString>(array: &dyn Array, values: impl Iterator<Item = T>) -> Vec<String> {
        let cell = |(i, v): (usize, T)| if array.is_null(i) { String::new() } else { v.to_string() };
        values.enumerate().map(cell).collect()
    }
    strings(array).or_else(|| match array.data_type() {
        DataType::Boolean => Some(as_text(array, array.as_boolean().values().iter())),
        DataType::Float64 => {
            Some(as_text(array, array.as_primitive::<types::Float64Type>().values().iter().copied()))
        }
        _ => numbers(array).map(|values| as_text(array, values.into_iter())),
    })
}

/// The moments of an array of dates or times, or of text in this order; one that is missing, or no date, is not known. By the clock in Greenwich, where
/// the array has a zone.
pub(crate) fn moments(array: &dyn Array, order: Order) -> Option<Vec<Moment>> {
    macro_rules! since_1970 {
        ($t:ty, $per_second:expr) => {{
            let second = |value: i64| Moment::at(value as f64 / $per_second);
            array.as_primitive::<$t>().values().iter().map(|&value| second(i64::from(value))).collect()
        }};
    }
    let mut all: Vec<Moment> = match array.data_type() {
        DataType::Date32 => {
            let day = |&day: &i32| Moment::at(86_400.0 * f64::from(day));
            array.as_primitive::<types::Date32Type>().values().iter().map(day).collect()
        }
        DataType::Date64 => since_1970!(types::Date64Type, 1e3),
        DataType::Timestamp(TimeUnit::Second, _) => since_1970!(types::TimestampSecondType, 1.0),
        DataType::Timestamp(TimeUnit::Millisecond, _) => since_1970!(types::TimestampMillisecondType, 1e3),
        DataType::Timestamp(TimeUnit::Microsecond, _) => since_1970!(types::TimestampMicrosecondType, 1e6),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => since_1970!(types::TimestampNanosecondType, 1e9),
        _ => strings(array)?.iter().map(|cell| parse(cell, order).unwrap_or(Moment::MISSING)).collect(),
    };
    (0..all.len()).filter(|&i| array.is_null(i)).for_each(|i| all[i] = Moment::MISSING);
    Some(all)
}
