//! The clock and the random source of the JavaScript engine.

use js_sys::Date;
use uuid::Uuid;

use crate::environment::{Environment, LocalTime};

/// The surroundings of a JavaScript engine, Node's included.
pub struct JsEnvironment;

impl Environment for JsEnvironment {
    fn now(&self) -> LocalTime {
        let now = Date::new_0();
        LocalTime {
            year: now.get_full_year(),
            month: now.get_month() + 1,
            day: now.get_date(),
            hour: now.get_hours(),
            minute: now.get_minutes(),
            second: now.get_seconds(),
            microsecond: now.get_milliseconds() * 1000,
        }
    }

    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }
}
