//! The names of the files in the directory of a session.

use std::cell::RefCell;

use crate::environment::Environment;
use crate::id::ContextId;
use crate::layout::{Layout, SESSION_FILE};

/// The kind of a file in the directory of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Session,
    Context(ContextId),
    /// A temporary file, which a write leaves behind only if it is killed.
    Temporary,
    /// The lock of a storage adapter.
    Lock,
    /// A copy made by a repair.
    Copy,
    Other,
}

impl Kind {
    pub fn of(name: &str) -> Self {
        if name == SESSION_FILE {
            Self::Session
        } else if let Some(id) = Layout::context_id(name) {
            Self::Context(id)
        } else if temporary_target(name).is_some() {
            Self::Temporary
        } else if name == ".lock" || name.starts_with(".lock.") {
            Self::Lock
        } else if is_copy(name) {
            Self::Copy
        } else {
            Self::Other
        }
    }
}

/// The name of the file that a temporary file, `.<name>.<unique>.tmp`, was to replace; `None` for any other name.
pub fn temporary_target(name: &str) -> Option<&str> {
    let inner = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let end = inner.find(".json.")? + ".json".len();
    Some(&inner[..end])
}

/// `<name>.<time>.bak`, or `<name>.<time>-2.bak` for a second copy at the same time.
fn is_copy(name: &str) -> bool {
    name.strip_suffix(".bak").is_some_and(|name| name.contains(".json.") || name.contains(".tmp."))
}

/// The file that a copy was made of, and when: for a temporary file, the one that it was meant to replace. `None` for any
/// other name.
pub(super) fn copied_file(name: &str) -> Option<(&str, &str)> {
    let stem = name.strip_suffix(".bak").filter(|_| is_copy(name))?;
    let (seconds, _) = stem.rmatch_indices('.').nth(1)?;
    let file = &stem[..seconds];
    Some((temporary_target(file).unwrap_or(file), &stem[seconds..]))
}

/// Different names in ascending order.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn contains(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    fn insert(&mut self, name: String) {
        if let Err(place) = self.place(&name) {
            self.0.insert(place, name);
        }
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|known| known.as_str().cmp(name))
    }
}

/// The files in the directory of a session.
pub(super) struct Directory {
    pub layout: Layout,
    /// In ascending order.
    names: Names,
    /// The files of contexts that were looked for and not listed.
    missing: RefCell<Names>,
}

impl Directory {
    pub fn new(layout: Layout, names: impl IntoIterator<Item = String>) -> Self {
        let mut all = Names::default();
        names.into_iter().for_each(|name| all.insert(name));
        Self { layout, names: all, missing: RefCell::default() }
    }

    /// The sorted names with their kinds.
    pub fn files(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.names.0.iter().map(|name| (name.as_str(), Kind::of(name)))
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether the context with this id, which may be invalid, has a file.
    pub fn has_context(&self, id: &str) -> bool {
        let Ok(id) = ContextId::parse(id) else { return false };
        let name = id.file_name();
        let is_listed = self.has(&name);
        if !is_listed {
            self.missing.borrow_mut().insert(name);
        }
        is_listed
    }

    /// The names that [`Directory::has_context`] did not find.
    pub fn missing(&self) -> Vec<String> {
        self.missing.borrow().0.clone()
    }

    /// An unused name for a copy, which no reader mistakes for the file of a session or a context.
    pub fn copy_name(&mut self, name: &str, environment: &dyn Environment) -> String {
        let time = environment.now().timestamp().replace([':', '-'], "");
        let mut copy = format!("{name}.{time}.bak");
        let mut number = 2;
        while self.has(&copy) {
            copy = format!("{name}.{time}-{number}.bak");
            number += 1;
        }
        self.names.insert(copy.clone());
        copy
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::environment::fixed::Fixed;
    use crate::id::SessionId;

    #[test]
    fn kinds() {
        assert_eq!(Kind::of("session.json"), Kind::Session);
        assert_eq!(Kind::of("c.json"), Kind::Context(ContextId::parse("c").unwrap()));
        assert_eq!(Kind::of(".c.json.12.0a-b.tmp"), Kind::Temporary);
        assert_eq!((Kind::of(".lock"), Kind::of(".lock.x.takeover")), (Kind::Lock, Kind::Lock));
        assert_eq!(temporary_target(".c.json.12.0a-b.tmp"), Some("c.json"));
        for name in ["notes.txt", ".c.json", "c.json.tmp", ".x.tmp", "x.bak", ".hidden", ""] {
            assert_eq!(Kind::of(name), Kind::Other, "{name}");
        }
    }

    #[test]
    fn copies_have_free_names() {
        let layout = Layout::new("a", SessionId::parse("s").unwrap());
        let mut directory = Directory::new(layout, ["c.json".to_owned()]);
        let first = directory.copy_name("c.json", &Fixed::default());
        let second = directory.copy_name("c.json", &Fixed::default());
        assert_eq!(first, "c.json.20260102T030405.000006.bak");
        assert_eq!(second, "c.json.20260102T030405.000006-2.bak");
        assert_eq!(Kind::of(&directory.copy_name(".c.json.1.2.tmp", &Fixed::default())), Kind::Copy);
        assert_eq!(copied_file(&first), Some(("c.json", ".20260102T030405.000006")));
        assert_eq!(copied_file(".c.json.1.2.tmp.20260102T030405.000006-2.bak").unwrap().0, "c.json");
        assert!(["c.json", "x.bak", "x.json.bak"].into_iter().all(|name| copied_file(name).is_none()));
        assert_eq!((Kind::of(&first), Kind::of(&second)), (Kind::Copy, Kind::Copy));
    }
}
