//! Dates and times in text, as programs and people write them.

/// In which order the parts of a date stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// 2021-01-31, 2021/1/31 or 2021-01.
    Year,
    /// 31.01.2021 or 31/1/2021.
    Day,
    /// 1/31/2021.
    Month,
    /// 31 Jan 2021, Jan 31, 2021 or January 2021.
    Named,
}

/// A moment: days since 1970-01-01, and seconds of the day by the clock that the text was written by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    pub(crate) day: f32,
    pub(crate) seconds: f32,
}

impl Moment {
    /// Nothing is known.
    pub(crate) const MISSING: Self = Self { day: f32::NAN, seconds: f32::NAN };

    /// So many seconds after 1970-01-01.
    pub(crate) fn at(seconds: f64) -> Self {
        let day = (seconds / 86_400.0).floor();
        // Days beyond 2^24 are no longer told apart; no calendar goes so far.
        if !seconds.is_finite() || day.abs() > 1e7 {
            return Self::MISSING;
        }
        Self { day: day as f32, seconds: (seconds - 86_400.0 * day) as f32 }
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The order in which all of these cells are dates, and whether days and months could be meant the other way round.
pub(crate) fn order<S: AsRef<str>>(cells: &[S]) -> Option<(Order, bool)> {
    let all =
        |order: Order| !cells.is_empty() && cells.iter().all(|cell| parse(cell.as_ref(), order).is_some());
    if let Some(order) = [Order::Year, Order::Named].into_iter().find(|order| all(*order)) {
        return Some((order, false));
    }
    match (all(Order::Day), all(Order::Month)) {
        (true, true) => {
            let slash = cells[0].as_ref().contains('/');
            Some((if slash { Order::Month } else { Order::Day }, true))
        }
        (true, false) => Some((Order::Day, false)),
        (false, true) => Some((Order::Month, false)),
        (false, false) => None,
    }
}

/// The moment in a cell.
pub(crate) fn parse(cell: &str, order: Order) -> Option<Moment> {
    let (date, time) = split(cell.trim());
    let seconds = time.map_or(Some(0.0), time_of_day)?;
    let separators = [' ', ',', '-', '/', '.'];
    let mut parts = date.split(separators).filter(|part| !part.is_empty());
    let parts = [parts.next()?, parts.next()?, parts.next().unwrap_or(""), parts.next().unwrap_or("")];
    if !parts[3].is_empty() {
        return None;
    }
    let [a, b, c, _] = parts;
    let (year, month, day) = match order {
        Order::Year if c.is_empty() => (year(a)?, two(b)?, 1),
        Order::Year => (year(a)?, two(b)?, two(c)?),
        Order::Day => (year(c)?, two(b)?, two(a)?),
        Order::Month => (year(c)?, two(a)?, two(b)?),
        Order::Named => named(a, b, c)?,
    };
    let day = days(year, month, day)?;
    Some(Moment { day: day as f32, seconds })
}

/// The date and what follows it, which has a colon.
fn split(cell: &str) -> (&str, Option<&str>) {
    let Some(colon) = cell.find(':') else { return (cell, None) };
    match cell[..colon].rfind(['T', ' ']) {
        Some(at) => (&cell[..at], Some(&cell[at + 1..])),
        None => (cell, None),
    }
}

/// 12:30, 12:30:59.25, 12:30 PM; a zone after it says nothing about the clock.
fn time_of_day(text: &str) -> Option<f32> {
    let upper = text.trim().to_ascii_uppercase();
    let (clock, noon) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock, Some(0.0)),
        (_, Some(clock)) => (clock, Some(12.0)),
        _ => (upper.trim_end_matches("UTC").trim_end_matches('Z'), None),
    };
    let clock = clock.trim().split(['+', '-']).next()?;
    let mut parts = clock.trim().split(':');
    let (hour, minute) = (two(parts.next()?)?, two(parts.next()?)?);
    let second = parts.next().map_or(Some(0.0), |part| part.parse::<f32>().ok())?;
    let hour = match noon {
        Some(noon) if hour <= 12 => f64::from(hour % 12) + noon,
        Some(_) => return None,
        None => f64::from(hour),
    };
    let fits = hour < 24.0 && minute < 60 && (0.0..61.0).contains(&second) && parts.next().is_none();
    fits.then_some((hour * 3600.0 + f64::from(minute) * 60.0 + f64::from(second)) as f32)
}

fn year(text: &str) -> Option<i32> {
    (text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())?
        .filter(|year| *year > 0)
}

fn two(text: &str) -> Option<u32> {
    ((1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn named(a: &str, b: &str, c: &str) -> Option<(i32, u32, u32)> {
    let month = |text: &str| {
        let text = text.to_ascii_lowercase();
        let fits = |name: &&str| {
            text.len() >= 3 && (name.starts_with(&*text) || text == "sept" && **name == *MONTHS[8])
        };
        MONTHS.iter().position(fits).map(|at| at as u32 + 1)
    };
    match (month(a), month(b)) {
        (Some(month), _) if c.is_empty() => Some((year(b)?, month, 1)),
        (Some(month), _) => Some((year(c)?, month, two(b)?)),
        (None, Some(month)) => {
            year(c).map_or_else(|| Some((year(a)?, month, two(c)?)), |year| Some((year, month, two(a)?)))
        }
        (None, None) => None,
    }
}

/// Days since 1970-01-01 of a day that exists, by the Gregorian calendar.
fn days(year: i32, month: u32, day: u32) -> Option<i32> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year.
    let (month, day) = (month as i32, day as i32);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// ```
/// assert_eq!(partita_data::civil(18_632), (2021, 1, 5));
/// ```
pub fn civil(day: i32) -> (i32, u32, u32) {
    // Years begin in March, as above.
    let shifted = i64::from(day) + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year as i32, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_order() {
        for (cell, order, day) in [
            ("1970-01-01", Order::Year, 0.0),
            ("2000-02-29", Order::Year, 11_016.0),
            ("2021/1/5", Order::Year, 18_632.0),
            ("2021-01", Order::Year, 18_628.0),
            ("05.01.2021", Order::Day, 18_632.0),
            ("1/5/2021", Order::Month, 18_632.0),
            ("Jan 5, 2021", Order::Named, 18_632.0),
            ("5-January-2021", Order::Named, 18_632.0),
            ("2021 Jan 5", Order::Named, 18_632.0),
            ("1969-12-31", Order::Year, -1.0),
        ] {
            assert_eq!(parse(cell, order).map(|m| m.day), Some(day), "{cell}");
        }
        for cell in
            ["2021-02-29", "2021-13-01", "1.2.3", "12:30", "2021", "may", "", "2021-01-05-06", "192.168.0.1"]
        {
            let orders = [Order::Year, Order::Day, Order::Month, Order::Named];
            assert!(orders.iter().all(|order| parse(cell, *order).is_none()), "{cell}");
        }
    }

    #[test]
    fn times_are_those_of_the_clock() {
        let seconds = |cell: &str| parse(cell, Order::Year).map(|m| m.seconds);
        assert_eq!(seconds("2021-01-05T12:30:15.5Z"), Some(45_015.5));
        assert_eq!(seconds("2021-01-05 12:30:00+02:00"), Some(45_000.0));
        assert_eq!(seconds("2021-01-05 12:30 PM"), Some(45_000.0));
        assert_eq!(seconds("2021-01-05 12:30 AM"), Some(1800.0));
        assert_eq!(seconds("2021-01-05 25:00"), None);
        assert_eq!(Moment::at(-1.0), Moment { day: -1.0, seconds: 86_399.0 });
        assert!(Moment::at(f64::INFINITY).day.is_nan());
    }

    #[test]
    fn all_cells_decide_about_days_and_months() {
        assert_eq!(order(&["13/1/2021", "1/2/2021"]), Some((Order::Day, false)));
        assert_eq!(order(&["1/13/2021", "1/2/2021"]), Some((Order::Month, false)));
        assert_eq!(order(&["1/3/2021", "1/2/2021"]), Some((Order::Month, true)));
        assert_eq!(order(&["1.3.2021", "1.2.2021"]), Some((Order::Day, true)));
        assert_eq!(order(&["2021-01-05", "red"]), None);
        assert_eq!(order::<&str>(&[]), None);
    }

    #[test]
    fn days_are_those_of_the_calendar_both_ways() {
        for day in (-800_000..800_000).step_by(997) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), Some(day));
        }
    }
}
