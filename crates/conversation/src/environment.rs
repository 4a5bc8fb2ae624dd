//! The time and the randomness that the core receives from outside.

pub use uuid::Uuid;

/// A local time, without its time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The year, such as 2026.
    pub year: u32,
    /// The month, 1 to 12.
    pub month: u32,
    /// The day, 1 to 31.
    pub day: u32,
    /// The hour, 0 to 23.
    pub hour: u32,
    /// The minute, 0 to 59.
    pub minute: u32,
    /// The second, 0 to 59.
    pub second: u32,
    /// The microsecond, 0 to 999,999.
    pub microsecond: u32,
}

impl LocalTime {
    /// The date and time of a local clock that counts milliseconds since 1970.
    pub fn from_milliseconds(milliseconds: i64) -> Self {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let of_day = milliseconds.rem_euclid(DAY);
        // Uses a calendar whose years begin in March, so that the leap day is the last day of a year. It repeats
        // every 400 years, which are 146,097 days.
        let days = milliseconds.div_euclid(DAY) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        // All fields but the year are small and non-negative.
        Self {
            year: u32::try_from(year).unwrap_or_default(),
            month: month as u32,
            day: (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32,
            hour: (of_day / 3_600_000) as u32,
            minute: (of_day / 60_000 % 60) as u32,
            second: (of_day / 1000 % 60) as u32,
            microsecond: (of_day % 1000 * 1000) as u32,
        }
    }

    /// The date as `YYYYMMDD`, as at the beginning of ids.
    pub fn date(&self) -> String {
        filled(b"YYYYMMDD", &[self.day, self.month, self.year])
    }

    /// ISO 8601 with microseconds and without a time zone, as stored in messages.
    pub fn timestamp(&self) -> String {
        let numbers = [self.microsecond, self.second, self.minute, self.hour, self.day, self.month, self.year];
        filled(b"YYYY-MM-DDThh:mm:ss.uuuuuu", &numbers)
    }
}

/// Replaces each run of one letter in a pattern by a number; the last number comes first. Every new message has a time, and
/// `format!` is several times slower.
fn filled(pattern: &[u8], numbers: &[u32]) -> String {
    let mut text = pattern.to_vec();
    let mut numbers = numbers.iter();
    let mut number = 0;
    let mut letter = None;
    for byte in text.iter_mut().rev() {
        let is_digit = byte.is_ascii_alphabetic() && *byte != b'T';
        if is_digit && letter != Some(*byte) {
            number = numbers.next().copied().unwrap_or_default();
        }
        letter = Some(*byte);
        if is_digit {
            *byte = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
    String::from_utf8(text).unwrap_or_default()
}

/// A clock and a source of random ids. The core has no others, so tests are deterministic.
pub trait Environment {
    /// The current local time.
    fn now(&self) -> LocalTime;

    /// A new random (version 4) uuid.
    fn uuid(&self) -> Uuid;

    /// An id for a session or a context: the local date and a random uuid.
    fn dated_id(&self) -> String {
        format!("{}-{}", self.now().date(), self.uuid())
    }
}

/// An environment for tests.
#[cfg(any(test, feature = "fixed"))]
pub mod fixed {
    use std::cell::Cell;

    use super::{Environment, LocalTime, Uuid};

    /// A fixed clock and consecutive uuids.
    #[derive(Default)]
    pub struct Fixed(Cell<u128>);

    impl Environment for Fixed {
        fn now(&self) -> LocalTime {
            LocalTime { year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, microsecond: 6 }
        }

        fn uuid(&self) -> Uuid {
            self.0.set(self.0.get() + 1);
            Uuid::from_u128(self.0.get())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixed::Fixed;
    use super::*;

    #[test]
    fn milliseconds_are_a_date_and_a_time() {
        // As `date --utc --date=@seconds` prints them.
        let cases = [
            (0, "1970-01-01T00:00:00.000000"),
            (-1, "1969-12-31T23:59:59.999000"),
            (951_782_400_000, "2000-02-29T00:00:00.000000"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999000"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000000"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000000"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000000"),
            (1_796_083_200_123, "2026-12-01T00:00:00.123000"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(LocalTime::from_milliseconds(milliseconds).timestamp(), expected);
        }
        let _any_clock = [i64::MIN, i64::MAX].map(LocalTime::from_milliseconds);
    }

    #[test]
    fn the_time_is_written_as_python_writes_it() {
        let now = Fixed::default().now();
        assert_eq!(now.date(), "20260102");
        assert_eq!(now.timestamp(), "2026-01-02T03:04:05.000006");
    }
}
