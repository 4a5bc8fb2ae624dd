//! Properties of reading and writing, over generated values and texts.
#![cfg(not(target_arch = "wasm32"))]

use peteos_json::{parse, to_file_bytes, to_python_text};
use proptest::prelude::*;
use serde_json::Value;

/// JSON values of every kind, a few levels deep.
fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in any_value()) {
        let written = to_file_bytes(&(&value).into()).unwrap();
        prop_assert!(written.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')));
        let read = parse(&written).unwrap();
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(to_file_bytes(&(&read).into()).unwrap(), written);
        prop_assert_eq!(parse(&serde_json::to_vec(&value).unwrap()).unwrap(), value);
    }

    #[test]
    fn the_python_text_is_the_same_value(value in any_value()) {
        let mut text = String::new();
        to_python_text(&(&value).into(), &mut text).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        // 1e300 and 1e+300 are the same number.
        prop_assert_eq!(as_doubles(read), as_doubles(value));
    }

    #[test]
    fn reads_and_refuses_what_serde_json_does(text in r#"[\[\]{}:,"\\a0-9.eE+\- \ntrufalsn]{0,12}"#) {
        let theirs = serde_json::from_str::<Value>(&text).map_err(drop);
        prop_assert_eq!(parse(text.as_bytes()).map_err(drop).is_ok(), theirs.is_ok());
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _value = parse(&bytes);
    }
}

fn as_doubles(value: Value) -> Value {
    match value {
        Value::Number(number) => format!("{:e}", number.as_str().parse::<f64>().unwrap()).into(),
        Value::Array(items) => items.into_iter().map(as_doubles).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, as_doubles(value))).collect(),
        other => other,
    }
}
