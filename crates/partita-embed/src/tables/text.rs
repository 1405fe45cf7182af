//! Numbers as people write them.

/// A number with as many digits as tell it from others: 82,000, 41.5, 0.0123.
///
/// ```
/// use partita_embed::tables::figures;
/// assert_eq!([82_000.0, -1234.5, 41.52, 0.012_34, 0.0].map(figures), ["82,000", "-1,234", "41.5", "0.0123", "0"]);
/// ```
pub fn figures(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size >= 1e15 || (size > 0.0 && size < 1e-4) {
        return format!("{value:.2e}");
    }
    if size >= 1000.0 {
        return grouped(value);
    }
    let digits = if size >= 100.0 { 0 } else { (2.0 - size.max(1e-4).log10().floor()).max(0.0) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A large number without a fraction, in groups of three digits.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 1.0 { "< 1 %".to_owned() } else { format!("{percent:.0} %") }
}
