//! Whether two tools have computed the same: numbers within a tolerance, and the same shape.

use crate::Result;
use serde_json::Value;

/// How far numbers may be from each other, beside the larger one or 1.
const TOLERANCE: f64 = 1e-6;

/// Says where an output is not what is expected.
pub fn agree(found: &Value, expected: &Value) -> Result<()> {
    at(found, expected, &mut String::new())
}

fn at(found: &Value, expected: &Value, place: &mut String) -> Result<()> {
    let same = match (found, expected) {
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            return found.iter().zip(expected).enumerate().try_for_each(|(index, (found, expected))| {
                inside(place, &index.to_string(), |place| at(found, expected, place))
            });
        }
        (Value::Object(found), Value::Object(expected)) if found.len() == expected.len() => {
            return expected.iter().try_for_each(|(name, expected)| {
                inside(place, name, |place| at(found.get(name).unwrap_or(&Value::Null), expected, place))
            });
        }
        _ => match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => {
                (found - expected).abs() <= TOLERANCE * found.abs().max(expected.abs()).max(1.0)
            }
            _ => false,
        },
    };
    if same { Ok(()) } else { Err(format!("`{place}` is {}, not {}", shown(found), shown(expected))) }
}

fn inside(place: &mut String, name: &str, compare: impl FnOnce(&mut String) -> Result<()>) -> Result<()> {
    let length = place.len();
    place.push('/');
    place.push_str(name);
    compare(place)?;
    place.truncate(length);
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(parts) => format!("an array of {}", parts.len()),
        Value::Object(_) => "an object".into(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rounding_is_no_difference() {
        let value = json!({ "rows": [0, 1], "vals": [1e9, 1e-9] });
        assert_eq!(agree(&json!({ "rows": [0.0, 1.0], "vals": [1e9 + 1.0, 0.0] }), &value), Ok(()));
    }

    #[test]
    fn differences_are_told_with_their_place() {
        let value = json!({ "vals": [1.0, 2.0] });
        for (other, message) in [
            (json!({ "vals": [1.0, 2.1] }), "`/vals/1` is 2.1, not 2.0"),
            (json!({ "vals": [1.0] }), "`/vals` is an array of 1, not an array of 2"),
            (json!({ "vals": [1.0, null] }), "`/vals/1` is null, not 2.0"),
            (json!({ "values": [1.0, 2.0] }), "`/vals` is null, not an array of 2"),
        ] {
            assert_eq!(agree(&other, &value), Err(message.into()));
        }
    }
}
