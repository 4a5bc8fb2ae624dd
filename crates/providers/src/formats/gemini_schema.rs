//! Schemas in the dialect of OpenAPI, as Gemini uses it, as JSON Schema.

use serde_json::Value;

use peteos_json::Object;

/// Keywords whose value is data.
const DATA: [&str; 5] = ["example", "examples", "default", "enum", "const"];
/// Keywords whose value has schemas by the name of a property.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
/// Keywords with a number, which the SDK gives as text.
const NUMBERS: [&str; 10] = [
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "multipleOf",
    "minContains",
];

/// The JSON Schema of a schema.
pub fn json_schema(schema: &Object) -> Object {
    let mut schema = schema.clone();
    let mut rest = vec![&mut schema];
    while let Some(schema) = rest.pop() {
        convert(schema);
        for (key, value) in schema.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())) {
            match (value, NAMED.contains(&key.as_str())) {
                (Value::Object(named), true) => rest.extend(named.values_mut().filter_map(Value::as_object_mut)),
                (Value::Object(inner), false) => rest.push(inner),
                (Value::Array(items), _) => rest.extend(items.iter_mut().filter_map(Value::as_object_mut)),
                _ => {}
            }
        }
    }
    schema
}

fn convert(schema: &mut Object) {
    for key in NUMBERS {
        let number = schema.get(key).and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
        if let Some(number @ Value::Number(_)) = number {
            schema.insert(key.to_owned(), number);
        }
    }
    match schema.get_mut("type") {
        // It says nothing.
        Some(Value::String(name)) if name == "TYPE_UNSPECIFIED" => drop(schema.shift_remove("type")),
        Some(Value::String(name)) => name.make_ascii_lowercase(),
        Some(Value::Array(names)) => {
            for name in names {
                if let Value::String(name) = name {
                    name.make_ascii_lowercase();
                }
            }
        }
        _ => {}
    }
    if schema.shift_remove("nullable") == Some(Value::Bool(true)) {
        accept_null(schema);
    }
}

fn accept_null(schema: &mut Object) {
    match schema.get_mut("type") {
        Some(Value::Array(names)) if names.iter().any(|name| name == "null") => {}
        Some(Value::Array(names)) => names.push("null".into()),
        Some(name) => *name = vec![name.take(), "null".into()].into(),
        None => {
            if let Some(Value::Array(schemas)) = schema.get_mut("anyOf") {
                schemas.push(crate::dict::dict! {"type": "null"});
            }
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        if !values.contains(&Value::Null) {
            values.push(Value::Null);
        }
    }
}
