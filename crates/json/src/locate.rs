//! Finds the position of a field in a text.

use super::path::{FieldPath, Segment};
use super::position::Position;
use super::reader::{BYTE_ORDER_MARK, Fault, MAX_DEPTH, Reader};

/// The position of the value at `path` in `text`, or of the nearest enclosing value if the field is missing.
///
/// It is called only to report an error, so it reads the text again instead of storing a position with every value.
pub fn locate(text: &[u8], path: &FieldPath) -> Position {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let offset = Reader::new(text, MAX_DEPTH).map_or(0, |mut reader| {
        reader.skip_space();
        let mut offset = reader.position();
        for segment in &path.0 {
            reader.seek(offset);
            match child(&mut reader, segment) {
                Ok(Some(start)) => offset = start,
                Ok(None) | Err(_) => break,
            }
        }
        offset
    });
    Position::of(text, offset)
}

/// The offset of the child that `segment` names in the array or object at the reader's position.
fn child(reader: &mut Reader, segment: &Segment) -> Result<Option<usize>, Fault> {
    let close = match reader.peek() {
        Some(b'[') => b']',
        Some(b'{') => b'}',
        _ => return Ok(None),
    };
    reader.seek(reader.position() + 1);
    reader.skip_space();
    if reader.peek() == Some(close) {
        return Ok(None);
    }
    let mut found = None;
    let mut index = 0;
    loop {
        let matches = if close == b'}' {
            let key = reader.key()?;
            matches!(segment, Segment::Key(wanted) if *wanted == key)
        } else {
            *segment == Segment::Index(index)
        };
        reader.skip_space();
        if matches {
            found = Some(reader.position());
        }
        reader.value()?;
        index += 1;
        if !reader.another(close)? {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_line_and_column() {
        let text = b"{\n  \"id\": 1,\n  \"messages\": [\n    {\"role\": \"user\"},\n    {\"role\":   7}\n  ]\n}";
        let at = |path: &FieldPath| {
            let position = locate(text, path);
            (position.line, position.column)
        };
        let messages = FieldPath::root().key("messages");
        assert_eq!(at(&FieldPath::root()), (1, 1));
        assert_eq!(at(&FieldPath::root().key("id")), (2, 9));
        assert_eq!(at(&messages), (3, 15));
        assert_eq!(at(&messages.index(1).key("role")), (5, 16));
        assert_eq!(at(&messages.index(1).key("absent")), (5, 5));
        assert_eq!(at(&messages.index(9)), (3, 15));
    }

    #[test]
    fn survives_any_text() {
        for text in ["", "   ", "[", "[]", "{\"a\"", "7", "\u{fffd}"] {
            locate(text.as_bytes(), &FieldPath::root().key("a").index(2));
        }
    }
}
