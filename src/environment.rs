//! What the core takes from outside: the time and randomness.

use uuid::Uuid;

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
    /// The date as `YYYYMMDD`, as ids begin.
    pub fn date(&self) -> String {
        format!("{:04}{:02}{:02}", self.year, self.month, self.day)
    }

    /// ISO 8601 with microseconds and without a time zone, as in messages.
    pub fn timestamp(&self) -> String {
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
            self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond
        )
    }
}

/// A clock and a source of random ids. The core has none of its own, so that tests are deterministic.
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

#[cfg(test)]
pub(crate) mod fixed {
    use std::cell::Cell;

    use super::*;

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

    #[test]
    fn the_time_is_written_as_python_writes_it() {
        let now = Fixed::default().now();
        assert_eq!(now.date(), "20260102");
        assert_eq!(now.timestamp(), "2026-01-02T03:04:05.000006");
    }
}
