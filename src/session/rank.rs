//! The order of the sessions in a list.

use std::cmp::Ordering;

const HOUR: f64 = 3_600_000.0;
const DAY: f64 = 24.0 * HOUR;
/// How far local time is behind UTC and ahead of it, at most.
const BEHIND: f64 = 12.0 * HOUR;
const AHEAD: f64 = 14.0 * HOUR;

/// The day in an id, which is a local date. The time zone in which the session was created is unknown. All times are in
/// milliseconds since 1970, in UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CreationDay {
    /// When the day begins in UTC; negative infinity if the id has no date.
    start: f64,
}

impl CreationDay {
    /// The day of an id that begins with `YYYYMMDD-`.
    pub fn of(uuid: &str) -> Self {
        let digits = uuid.get(..9).filter(|start| start.ends_with('-')).map_or("", |start| &start[..8]);
        let number = |at: std::ops::Range<usize>| digits.get(at).and_then(|digits| digits.parse::<u32>().ok());
        let start = match (digits.bytes().all(|byte| byte.is_ascii_digit()), number(0..4), number(4..6), number(6..8)) {
            (true, Some(year), Some(month), Some(day)) => days_since_1970(year, month, day) * DAY,
            _ => f64::NEG_INFINITY,
        };
        Self { start }
    }

    pub fn start(self) -> f64 {
        self.start
    }

    /// The first moment at which it is this day somewhere.
    pub fn earliest(self) -> f64 {
        self.start - AHEAD
    }

    /// The moment at which it is this day nowhere any more.
    pub fn latest(self) -> f64 {
        self.start + DAY + BEHIND
    }
}

/// Days in the Gregorian calendar. Uses a calendar whose years begin in March, so that the leap day is the last day of a
/// year.
fn days_since_1970(year: u32, month: u32, day: u32) -> f64 {
    let (year, month, day) = (i64::from(year) - i64::from(month <= 2), i64::from(month), i64::from(day));
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era - 719_468) as f64
}

/// The place of a session in a list. The greatest is the newest.
///
/// If the file was written while it was the day of the id somewhere, the time of the file decides, because the time zones of
/// the sessions may differ. Otherwise the session was saved again later, and the day decides, as a day of the reader's time
/// zone. Sessions for which that is the same are in the order of their last saves.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    created: f64,
    modified: f64,
    uuid: String,
}

impl Rank {
    /// The place of a session whose file was last written at `modified`, if that is known. `utc_offset` is that of the
    /// reader's time zone in milliseconds.
    pub fn new(uuid: &str, modified: Option<f64>, utc_offset: f64) -> Self {
        let day = CreationDay::of(uuid);
        let modified = modified.unwrap_or(0.0);
        let created = if modified < day.earliest() {
            day.start - utc_offset
        } else if modified <= day.latest() {
            modified
        } else {
            day.start - utc_offset + DAY
        };
        Self { created, modified, uuid: uuid.to_owned() }
    }

    /// The time by which sessions are ordered first: within the bounds of the day.
    pub fn created(&self) -> f64 {
        self.created
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = self.created.total_cmp(&other.created).then(self.modified.total_cmp(&other.modified));
        by_time.then_with(|| self.uuid.cmp(&other.uuid))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::LocalTime;

    /// The ids in the order of a list, from ids with the times of their files.
    fn order<'i>(sessions: &[(&'i str, Option<f64>)], utc_offset: f64) -> Vec<&'i str> {
        let mut ranks: Vec<(Rank, &str)> =
            sessions.iter().map(|(uuid, modified)| (Rank::new(uuid, *modified, utc_offset), *uuid)).collect();
        ranks.sort_by(|(one, _), (other, _)| other.cmp(one));
        ranks.into_iter().map(|(_, uuid)| uuid).collect()
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for text in ["19700101", "19691231", "20000229", "20240229", "20240301", "21000228", "20261201", "00010101"] {
            let start = CreationDay::of(&format!("{text}-x")).start();
            if start >= 0.0 {
                assert_eq!(LocalTime::from_milliseconds(start as i64).date(), text);
            }
        }
        assert_eq!(CreationDay::of("19691231-x").start(), -DAY);
        for other in ["other", "2026-x", "99999999", "2026010x-", "20260101", ""] {
            assert_eq!(CreationDay::of(other).start(), f64::NEG_INFINITY, "{other}");
        }
        let _any = CreationDay::of("99999999-x");
    }

    #[test]
    fn by_day_then_by_the_last_save_then_by_id() {
        let sessions = [
            ("other", Some(9.0)),
            ("20260101-b", Some(1.0)),
            ("20260102-a", None),
            ("20260101-a", Some(2.0)),
            ("20260101-c", Some(1.0)),
        ];
        assert_eq!(order(&sessions, 0.0), ["20260102-a", "20260101-a", "20260101-c", "20260101-b", "other"]);
        let later = CreationDay::of("20260109-").start();
        let resumed = [("20260101-a", Some(later + 1.0)), ("20260101-b", Some(later)), ("20260102-c", Some(later))];
        assert_eq!(order(&resumed, 0.0), ["20260102-c", "20260101-a", "20260101-b"]);
    }

    #[test]
    fn sessions_of_two_time_zones_are_in_the_order_of_their_saves() {
        let midnight = CreationDay::of("20260102-").start();
        // In Auckland it is the 2nd from 11:00 UTC of the 1st, in Honolulu it is the 1st until 10:00 UTC of the 2nd.
        let sessions = [
            ("20260102-auckland", Some(midnight - 12.0 * HOUR)),
            ("20260101-london", Some(midnight - 6.0 * HOUR)),
            ("20260101-honolulu", Some(midnight + 9.0 * HOUR)),
            ("20260102-london", Some(midnight + 8.0 * HOUR)),
        ];
        let expected = ["20260101-honolulu", "20260102-london", "20260101-london", "20260102-auckland"];
        for utc_offset in [-10.0, 0.0, 13.0] {
            assert_eq!(order(&sessions, utc_offset * HOUR), expected);
        }
    }

    #[test]
    fn in_one_time_zone_the_day_and_the_last_save_decide() {
        for offset in [-12.0, -8.0, 0.0, 5.5, 14.0] {
            let offset = offset * HOUR;
            let local = |day: &str, hours: f64| Some(CreationDay::of(day).start() + hours * HOUR - offset);
            let sessions = [
                ("20260101-early", local("20260101-", 0.0)),
                ("20260101-late", local("20260101-", 23.9)),
                ("20260101-resumed", local("20260104-", 12.0)),
                ("20260102-early", local("20260102-", 0.1)),
                ("20260102-late", local("20260102-", 23.9)),
                ("20260103-early", local("20260103-", 0.1)),
            ];
            let expected = [
                "20260103-early",
                "20260102-late",
                "20260102-early",
                "20260101-resumed",
                "20260101-late",
                "20260101-early",
            ];
            assert_eq!(order(&sessions, offset), expected, "{offset}");
        }
    }
}
