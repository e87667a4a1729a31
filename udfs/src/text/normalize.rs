use std::sync::Arc;

use arrow::array::{Array, StringViewArray, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

use crate::arguments::{coerce_text, text_array};

/// `normalize(text)`: one spelling for what reads the same.
#[user_doc(
    doc_section(label = "Text"),
    description = "A text in one spelling, so that copies compare equal that differ in nothing a reader minds:\n\n\
                   | rule | before | after |\n\
                   | --- | --- | --- |\n\
                   | compatibility forms and composed characters are unified (NFKC) | `ﬁne Ａ１` | `fine a1` |\n\
                   | case is folded, in no language in particular | `Straße ΣΊΣΥΦΟΣ` | `strasse σίσυφοσ` |\n\
                   | control characters, soft hyphens, zero-width characters, bidirectional controls and all else that \
                   Unicode says to ignore are removed | `co` U+00AD `op` | `coop` |\n\
                   | a run of white space, line breaks too, is one space; none stays at either end | `␣two` line break \
                   `lines` | `two lines` |\n\
                   | quotes, primes and acute accents are `\"` and `'`, dashes and hyphens `-`, ellipses `...` | `“it’s” \
                   — «so»…` | `\"it's\" - \"so\"...` |\n\n\
                   All other punctuation stays; `words` leaves it out.\n\n\
                   Returns Utf8View. `normalize(normalize(text))` is `normalize(text)`. NULL for NULL; the empty text \
                   for the empty text.",
    syntax_example = "normalize(text)",
    sql_example = r#"```sql
> SELECT normalize('  “Straße”  №１ … ') AS normalized;
+-------------------+
| normalized        |
+-------------------+
| "strasse" no1 ... |
+-------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Normalize {
    signature: Signature,
}

impl Default for Normalize {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Normalize {
    fn name(&self) -> &str {
        "normalize"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), text)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = take_function_args(self.name(), &args.args)?;
        let texts = text.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(Arc::new(normalize_all(text_array(&texts)?))))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn normalize_all(texts: &StringViewArray) -> StringViewArray {
    let mut normalized = StringViewBuilder::with_capacity(texts.len());
    let mut buffer = String::new();
    for text in texts {
        match text {
            Some(text) => {
                normalize(text, &mut buffer);
                normalized.append_value(&buffer);
            }
            None => normalized.append_null(),
        }
    }
    normalized.finish()
}

/// Puts the normal form of `text` into `normalized`.
pub(crate) fn normalize(text: &str, normalized: &mut String) {
    normalized.clear();
    if text.is_ascii() {
        normalize_ascii(text, normalized);
    } else {
        normalize_unicode(text, normalized);
    }
}

/// What [`normalize_unicode`] does, for ASCII.
fn normalize_ascii(text: &str, normalized: &mut String) {
    normalized.reserve(text.len());
    let mut space = false;
    for byte in text.bytes() {
        match byte {
            b' ' | b'\t'..=b'\r' => space = true,
            0..=0x1F | 0x7F => {}
            _ => {
                if space && !normalized.is_empty() {
                    normalized.push(' ');
                }
                space = false;
                normalized.push(char::from(byte.to_ascii_lowercase()));
            }
        }
    }
}

fn normalize_unicode(text: &str, normalized: &mut String) {
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() && (c.is_control() || (!c.is_ascii() && ignorable.contains(c))) {
            continue;
        }
        // Before NFKC, which has a space and a combining accent for an acute accent that stands for an apostrophe.
        push_unified(c, &mut kept);
    }
    let mut folded = fold(&nfkc.normalize(&kept));
    // Folding can undo NFKC, as it does for an iota below: once more, and both hold.
    if !nfkc.is_normalized(&folded) {
        folded = fold(&nfkc.normalize(&folded));
    }
    let mut space = false;
    for c in folded.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if space && !normalized.is_empty() {
            normalized.push(' ');
        }
        space = false;
        push_unified(c, normalized);
    }
}

fn fold(text: &str) -> String {
    CaseMapper::new().fold_string(text).into_owned()
}

/// Adds a character, or what stands for it in ASCII.
fn push_unified(c: char, text: &mut String) {
    match c {
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '‵' | '´' | '『' | '』' => text.push('\''),
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '‶' | '〝' | '〞' | '〟' | '「' | '」' => {
            text.push('"')
        }
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => text.push('-'),
        '…' => text.push_str("..."),
        _ => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        let mut normalized = String::new();
        normalize(text, &mut normalized);
        normalized
    }

    #[test]
    fn every_rule_does_what_the_documentation_says() {
        for (text, expected) in [
            ("ﬁne Ａ１ e\u{301}", "fine a1 é"),
            ("Straße ΣΊΣΥΦΟΣ", "strasse σίσυφοσ"),
            ("\u{feff}co\u{ad}\u{200b}o\u{202e}p\u{0}", "coop"),
            ("\t two\r\n\u{3000}lines\u{2028}", "two lines"),
            ("“it’s” — «so»…", "\"it's\" - \"so\"..."),
            ("don´t ‹x› ５″ 「是」", "don't 'x' 5\" \"是\""),
            ("Stop, now! (Really?)", "stop, now! (really?)"),
            ("", ""),
            (" \u{a0}\n", ""),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn every_character_is_normalized_once_and_for_all() {
        for c in '\0'..=char::MAX {
            for text in [c.to_string(), format!("a{c}\u{301}b"), format!("\u{3a9}\u{345}{c}"), format!(" {c} x")] {
                let once = normal(&text);
                assert_eq!(normal(&once), once, "{text:?} {c:x?}");
            }
        }
    }

    #[test]
    fn hostile_text_is_normalized_in_linear_time() {
        let started = Instant::now();
        for piece in ["\u{301}", "\u{301}\u{316}", "\u{fdfa}", "é", "x", " ", "\0", "\u{202e}", "\u{345}", "각", "字"]
        {
            normal(&format!("é{}", piece.repeat(1_000_000 / piece.len())));
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn ascii_is_normalized_as_all_text_is(text in "[\\x00-\\x7f]{0,50}") {
            let (mut fast, mut slow) = (String::new(), String::new());
            normalize_ascii(&text, &mut fast);
            normalize_unicode(&text, &mut slow);
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn twice_is_once(text in "(\\PC|[\\u0300-\\u036f\\u0345ªßŉ´¨ΐϓſﬁİı \u{200b}\u{ad}\u{1100}-\u{11ff}]){0,20}") {
            let once = normal(&text);
            prop_assert_eq!(normal(&once), once);
        }
    }
}
