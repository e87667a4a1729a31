use std::sync::Arc;

use arrow::array::{Array, StringViewArray, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

use super::broken_words::Joined;
use crate::arguments::{coerce_text, constant_language, text_array};

/// `normalize(text [, language])`: one spelling for texts that read the same.
#[user_doc(
    doc_section(label = "Text"),
    description = "The text in one spelling, so that copies compare equal if they differ only in details that readers \
                   ignore:\n\n\
                   | rule | before | after |\n\
                   | --- | --- | --- |\n\
                   | compatibility forms and composed characters are unified (NFKC) | `ﬁne Ａ１` | `fine a1` |\n\
                   | case is folded, by the rules of no particular language | `Straße ΣΊΣΥΦΟΣ` | `strasse σίσυφοσ` |\n\
                   | in Turkish and Azerbaijani the dotless ı and the dotted i are two letters | `IĞDIR İZMİR` | \
                   `ığdır izmir` |\n\
                   | control characters, soft hyphens, zero-width characters, bidirectional controls and all other \
                   characters that Unicode declares ignorable are removed | `co` U+00AD `op` | `coop` |\n\
                   | a word that a hyphen (`-`, U+00AD, `¬`, `⸗`) breaks at the end of a line is joined if it goes on \
                   with a small letter | `exam-` line break `ple` | `example` |\n\
                   | a run of white space, including line breaks, becomes one space; white space at either end is \
                   removed | `␣two` line break `lines` | `two lines` |\n\
                   | quotes, primes and acute accents become `\"` and `'`, dashes and hyphens `-`, ellipses `...` | \
                   `“it’s” — «so»…` | `\"it's\" - \"so\"...` |\n\n\
                   All other punctuation stays; `words` leaves it out.\n\n\
                   Only Turkish and Azerbaijani have a rule of their own: any other language gives the same result as \
                   no language, in which `I` becomes `i`, and `İ` becomes an `i` with a combining dot.\n\n\
                   Returns Utf8View. `normalize(normalize(text))` equals `normalize(text)`. NULL for NULL; the empty \
                   text for the empty text. A language that is neither a code of two or three letters nor a tag that \
                   begins with one is an error.",
    syntax_example = "normalize(text [, language])",
    sql_example = r#"```sql
> SELECT normalize('  “Straße”  №１ … ') AS normalized;
+-------------------+
| normalized        |
+-------------------+
| "strasse" no1 ... |
+-------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8."),
    argument(
        name = "language",
        description = "The language of the text, as an ISO 639 code or a language tag: `tr`, `az`, `tr-TR`; none if \
                       left out; a constant."
    )
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
        let (Some(text), 1 | 2) = (given.first(), given.len()) else {
            return plan_err!("normalize expects (text [, language]), got {} arguments", given.len());
        };
        let language = given[1..].iter().map(|_| DataType::Utf8);
        Ok([coerce_text(self.name(), text)?].into_iter().chain(language).collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (text, casing) = match args.args.as_slice() {
            [text] => (text, Casing::Root),
            [text, language] => (text, Casing::of_language(&constant_language(self.name(), language)?)),
            other => return exec_err!("normalize expects (text [, language]), got {} arguments", other.len()),
        };
        let texts = text.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(Arc::new(normalize_all(text_array(&texts)?, casing))))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The rules by which letters are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Casing {
    /// The rules of no language in particular.
    Root,
    /// The rules of Turkic languages: `I` is the capital of `ı`, and `İ` the capital of `i`.
    Turkic,
}

impl Casing {
    /// Returns the casing of a language, given by the primary subtag of its tag.
    pub(crate) fn of_language(language: &str) -> Self {
        match language {
            "tr" | "tur" | "az" | "aze" => Self::Turkic,
            _ => Self::Root,
        }
    }
}

fn normalize_all(texts: &StringViewArray, casing: Casing) -> StringViewArray {
    let mut normalized = StringViewBuilder::with_capacity(texts.len());
    let mut buffer = String::new();
    for text in texts {
        match text {
            Some(text) => {
                normalize_in(text, casing, &mut buffer);
                normalized.append_value(&buffer);
            }
            None => normalized.append_null(),
        }
    }
    normalized.finish()
}

/// Replaces the content of `normalized` with the normal form of `text`, in no language in particular.
pub(crate) fn normalize(text: &str, normalized: &mut String) {
    normalize_in(text, Casing::Root, normalized);
}

/// Replaces the content of `normalized` with the normal form of `text`.
pub(crate) fn normalize_in(text: &str, casing: Casing, normalized: &mut String) {
    normalized.clear();
    let joined = Joined::try_new(text);
    let text = joined.as_ref().map_or(text, |joined| joined.text.as_str());
    // No rule looks across ASCII white space, so the text can be split there.
    let mut rest = text;
    while let Some(far) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let start = rest[..far].rfind(is_ascii_space).unwrap_or(0);
        let end = end_of_unicode(rest, far);
        normalize_ascii(&rest[..start], casing, normalized);
        normalize_unicode(&rest[start..end], casing, normalized);
        rest = &rest[end..];
    }
    normalize_ascii(rest, casing, normalized);
}

fn is_ascii_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Returns the start of the white space behind which a longer stretch of ASCII begins. The letter at `far` is not
/// ASCII.
fn end_of_unicode(text: &str, far: usize) -> usize {
    const A_WHILE: usize = 64;
    let mut end = far;
    loop {
        let Some(space) = text[end..].find(is_ascii_space) else { return text.len() };
        end += space;
        match text.bytes().skip(end).take(A_WHILE).position(|byte| !byte.is_ascii()) {
            Some(next) => end += next,
            None => return end,
        }
    }
}

/// Normalizes ASCII as [`normalize_unicode`] does.
fn normalize_ascii(text: &str, casing: Casing, normalized: &mut String) {
    // `I` is the only ASCII letter that is folded differently.
    if casing == Casing::Turkic && text.contains('I') {
        return normalize_unicode(text, casing, normalized);
    }
    normalized.reserve(text.len() + 1);
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

fn normalize_unicode(text: &str, casing: Casing, normalized: &mut String) {
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() && (c.is_control() || (!c.is_ascii() && ignorable.contains(c))) {
            continue;
        }
        // Before NFKC, which turns an acute accent used as an apostrophe into a space and a combining accent.
        push_unified(c, &mut kept);
    }
    let mut folded = fold(&nfkc.normalize(&kept), casing);
    // Folding can undo NFKC, as with an iota subscript. After a second round both hold.
    if !nfkc.is_normalized(&folded) {
        folded = fold(&nfkc.normalize(&folded), casing);
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

fn fold(text: &str, casing: Casing) -> String {
    let mapper = CaseMapper::new();
    match casing {
        Casing::Root => mapper.fold_string(text),
        Casing::Turkic => mapper.fold_turkic_string(text),
    }
    .into_owned()
}

/// Adds a character, or its ASCII replacement.
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
        normal_in(text, Casing::Root)
    }

    /// Returns the text with its broken words joined.
    fn joined(text: &str) -> String {
        Joined::try_new(text).map_or_else(|| text.to_owned(), |joined| joined.text)
    }

    fn normal_in(text: &str, casing: Casing) -> String {
        let mut normalized = String::new();
        normalize_in(text, casing, &mut normalized);
        normalized
    }

    #[test]
    fn a_word_that_is_broken_at_the_end_of_a_line_is_whole() {
        assert_eq!(normal("An EXAM-\nple¬\nof well-known old⸗\r\nprints-"), "an exampleof well-known oldprints-");
    }

    #[test]
    fn turkish_has_two_letters() {
        for (text, expected) in [
            ("ISPARTA", "ısparta"),
            ("IĞDIR İZMİR", "ığdır izmir"),
            ("I\u{307}zmir ılık ilk", "izmir ılık ilk"),
            ("“Çok” HIZLI…", "\"çok\" hızlı..."),
            ("plain ASCII", "plain ascıı"),
            ("ΣΊΣΥΦΟΣ Straße", "σίσυφοσ strasse"),
        ] {
            assert_eq!(normal_in(text, Casing::Turkic), expected, "{text:?}");
        }
        assert_eq!(normal("IĞDIR İZMİR"), "iğdir i\u{307}zmi\u{307}r");
    }

    #[test]
    fn languages_are_told_by_their_codes() {
        assert_eq!(["tr", "az", "tur", "aze"].map(Casing::of_language), [Casing::Turkic; 4]);
        assert_eq!(["en", "de", "trv", "tk"].map(Casing::of_language), [Casing::Root; 4]);
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
                for casing in [Casing::Root, Casing::Turkic] {
                    let once = normal_in(&text, casing);
                    assert_eq!(normal_in(&once, casing), once, "{text:?} {c:x?} {casing:?}");
                }
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
            for casing in [Casing::Root, Casing::Turkic] {
                let mut slow = String::new();
                normalize_unicode(&joined(&text), casing, &mut slow);
                prop_assert_eq!(normal_in(&text, casing), slow);
            }
        }

        #[test]
        fn stretches_are_normalized_as_the_whole_text_is(
            text in "([\\x00-\\x7f]{0,90}(\\PC|[\\u0300-\\u036f\\u0345ªßŉ´¨ϐﬁİı \u{2028}\u{200b}\u{ad}\u{1100}-\u{11ff}]){0,3}){0,6}"
        ) {
            for casing in [Casing::Root, Casing::Turkic] {
                let mut slow = String::new();
                normalize_unicode(&joined(&text), casing, &mut slow);
                prop_assert_eq!(normal_in(&text, casing), slow);
            }
        }

        #[test]
        fn twice_is_once(text in "(\\PC|[\\u0300-\\u036f\\u0345ªßŉ´¨ΐϓſﬁİı \u{200b}\u{ad}\u{1100}-\u{11ff}]){0,20}") {
            for casing in [Casing::Root, Casing::Turkic] {
                let once = normal_in(&text, casing);
                prop_assert_eq!(normal_in(&once, casing), once);
            }
        }

        #[test]
        fn only_the_letter_i_knows_a_language(text in "(\\PC|[ \\u0300-\\u036fßﬁ]){0,20}") {
            let nfkc = ComposingNormalizerBorrowed::new_nfkc();
            let text: String =
                text.chars().filter(|c| !nfkc.normalize(c.encode_utf8(&mut [0; 4])).contains(['I', 'İ'])).collect();
            prop_assert_eq!(normal_in(&text, Casing::Turkic), normal(&text));
        }
    }
}
