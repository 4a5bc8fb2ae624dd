//! What the core takes from outside: the time and randomness.

use uuid::Uuid;

/// A moment on the clock of the place where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    pub year: u32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub microsecond: u32,
}

impl LocalTime {
    /// `YYYYMMDD`, which ids begin with.
    pub fn date(&self) -> String {
        format!("{:04}{:02}{:02}", self.year, self.month, self.day)
    }

    /// ISO 8601 with microseconds and no zone, as messages carry it.
    pub fn timestamp(&self) -> String {
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
            self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond
        )
    }
}

/// A clock and a source of random ids. The core has none of its own, so that a test decides what both say.
pub trait Environment {
    /// What the clock says.
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

    /// A clock that stands still, and uuids that count.
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
