//! Texts inside nested columns, or in several columns: `content.body`, `messages[].content`, `title+body`.

use serde_json::Value;

/// The places of the text of a record. The texts of several places are joined in order, separated by blank lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextPlaces(Vec<TextPlace>);

/// A column, and the steps to texts within its values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextPlace {
    column: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// The step into the value of a key of an object.
    Key(String),
    /// The step into all items of a list.
    Items,
}

/// The separator of two texts of a record.
const BETWEEN: &str = "\n\n";

impl TextPlaces {
    /// Parses a name such as `messages[].content` or `title+body`; a name alone is the column.
    pub(super) fn of(name: &str) -> Self {
        Self(name.split('+').map(|place| TextPlace::of(place.trim())).collect())
    }

    /// Returns the place of the texts of a column, whatever its name.
    pub(super) fn of_column(name: &str) -> Self {
        Self(vec![TextPlace { column: name.to_owned(), steps: Vec::new() }])
    }

    /// Returns true if the name is more than the name of a column.
    pub(super) fn is_within(&self) -> bool {
        self.0.len() > 1 || self.0.iter().any(|place| !place.steps.is_empty())
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|place| place.column.as_str())
    }

    /// Returns the text of a record; `value_of` returns the value of a column. Fails if there is no text, with a
    /// description of what is there instead.
    pub(super) fn text(&self, value_of: impl Fn(&str) -> Option<Value>) -> Result<String, String> {
        let mut texts = Vec::new();
        for place in &self.0 {
            let Some(value) = value_of(&place.column) else { continue };
            gather(&value, &place.steps, &mut texts)?;
        }
        if texts.is_empty() {
            return Err("missing".to_owned());
        }
        texts.retain(|text| !text.is_empty());
        Ok(texts.join(BETWEEN))
    }
}

impl TextPlace {
    fn of(place: &str) -> Self {
        let mut parts = place.split('.');
        let mut steps = Vec::new();
        let name = |part: &str| {
            let name = part.trim_end_matches("[]");
            let lists = (part.len() - name.len()) / "[]".len();
            (name.to_owned(), lists)
        };
        let (column, lists) = name(parts.next().unwrap_or_default());
        steps.extend(std::iter::repeat_n(Step::Items, lists));
        for part in parts {
            let (key, lists) = name(part);
            steps.push(Step::Key(key));
            steps.extend(std::iter::repeat_n(Step::Items, lists));
        }
        Self { column, steps }
    }
}

/// Adds the texts that steps lead to. NULL and keys that are not there lead to none.
fn gather(value: &Value, steps: &[Step], texts: &mut Vec<String>) -> Result<(), String> {
    match (value, steps) {
        (Value::Null, _) => Ok(()),
        (Value::String(text), []) => {
            texts.push(text.clone());
            Ok(())
        }
        // A list of paragraphs.
        (Value::Array(items), []) if items.iter().all(|item| item.is_string() || item.is_null()) => {
            items.iter().try_for_each(|item| gather(item, steps, texts))
        }
        (Value::Array(items), [Step::Items, rest @ ..]) => items.iter().try_for_each(|item| gather(item, rest, texts)),
        (Value::Object(object), [Step::Key(key), rest @ ..]) => {
            object.get(key).map_or(Ok(()), |value| gather(value, rest, texts))
        }
        (_, [Step::Items, ..]) => Err(format!("{}, where a list of texts is looked for", named(value))),
        (_, [Step::Key(key), ..]) => Err(format!("{}, which has no {key:?}", named(value))),
        (_, []) => Err(format!("{}, not text", named(value))),
    }
}

fn named(value: &Value) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_within_columns_are_found() {
        let record = json!({
            "title": "T", "body": "B", "none": null, "n": 7, "paragraphs": ["one", null, "two"], "content": {"body": {"text": "deep"}},
            "messages": [{"role": "user", "content": "Hi."}, {"role": "tool"}, {"role": "user", "content": ["a", "b"]}], "nested": [["x"], ["y"]]
        });
        let text = |name: &str| TextPlaces::of(name).text(|column| record.get(column).cloned());
        for (name, expected) in [
            ("title+body", "T\n\nB"),
            ("title + none", "T"),
            ("content.body.text", "deep"),
            ("paragraphs", "one\n\ntwo"),
            ("paragraphs[]", "one\n\ntwo"),
            ("messages[].content", "Hi.\n\na\n\nb"),
            ("title+messages[].content", "T\n\nHi.\n\na\n\nb"),
            ("nested[][]", "x\n\ny"),
        ] {
            assert_eq!(text(name).as_deref(), Ok(expected), "{name}");
        }
        for (name, found) in [
            ("none", "missing"),
            ("gone.body", "missing"),
            ("n", "a number, not text"),
            ("content", "an object, not text"),
            ("title.body", "text, which has no \"body\""),
            ("content[]", "an object, where a list of texts is looked for"),
        ] {
            assert_eq!(text(name), Err(found.to_owned()), "{name}");
        }
    }
}
