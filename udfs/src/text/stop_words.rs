use std::sync::Arc;

use arrow::array::{ArrayRef, StringViewArray};
use arrow::datatypes::DataType;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::each_word;
use super::normalize::{Casing, normalize_in};
use crate::arguments::{coerce_text, constant_language, one_list, tokens_type};

/// The languages with a list of Snowball.
const LANGUAGES: [&str; 14] = ["da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ru", "sv", "tr"];

/// `stop_words(language)`: the words that a language uses in any text.
#[user_doc(
    doc_section(label = "Text"),
    description = "The stop words of a language, for `without_tokens`: words that say nothing about the topic of a \
                   text, such as articles, pronouns and prepositions. The lists are those of the Snowball project (BSD \
                   licence) as NLTK has them. They are short, above all the Turkish one, which lacks *bir*; \
                   `array_concat` adds words of your own. For other languages give `without_tokens` a list of your \
                   own, or the words that `frequent_tokens` finds in the corpus.\n\n\
                   | code | language | code | language |\n\
                   | --- | --- | --- | --- |\n\
                   | `da` | Danish | `it` | Italian |\n\
                   | `de` | German | `nl` | Dutch |\n\
                   | `en` | English | `no` | Norwegian |\n\
                   | `es` | Spanish | `pt` | Portuguese |\n\
                   | `fi` | Finnish | `ru` | Russian |\n\
                   | `fr` | French | `sv` | Swedish |\n\
                   | `hu` | Hungarian | `tr` | Turkish |\n\n\
                   Returns `List<Utf8View>`, a constant: the words as `words(normalize(text, language))` gives them, \
                   distinct and in code point order. Any other language is an error.",
    syntax_example = "stop_words(language)",
    sql_example = r#"```sql
> SELECT without_tokens(words(normalize('Kitap ve defter ÇOK güzel', 'tr')), stop_words('tr')) AS left_over;
+------------------------+
| left_over              |
+------------------------+
| [kitap, defter, güzel] |
+------------------------+
```"#,
    argument(
        name = "language",
        description = "The language, as an ISO 639 code or a language tag: `tr`, `tr-TR`; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct StopWords {
    signature: Signature,
}

impl Default for StopWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for StopWords {
    fn name(&self) -> &str {
        "stop_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [language] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), language)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tokens_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [language] = take_function_args(self.name(), &args.args)?;
        let language = constant_language(self.name(), language)?;
        let Some(words) = stop_words(&language) else {
            return exec_err!("stop_words: there is no list for '{language}'; there are {}", LANGUAGES.join(", "));
        };
        let words: ArrayRef = Arc::new(words.iter().map(Some).collect::<StringViewArray>());
        Ok(ColumnarValue::Scalar(one_list(words)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the stop words of a language in their normal form, ascending and distinct.
fn stop_words(language: &str) -> Option<Vec<String>> {
    let casing = Casing::of_language(language);
    let listed = LANGUAGES.contains(&language).then(|| stop_words::lookup(language))??;
    let mut words = Vec::with_capacity(listed.len());
    let mut normal = String::new();
    for entry in listed {
        normalize_in(entry, casing, &mut normal);
        each_word(&normal, |range| words.push(normal[range].to_string()));
    }
    words.sort_unstable();
    words.dedup();
    Some(words)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    #[test]
    fn every_stop_word_is_one_word_of_a_normalized_text() {
        for language in LANGUAGES {
            let words = stop_words(language).unwrap();
            assert!(words.is_sorted_by(|a, b| a < b), "{language}");
            for word in words {
                let (mut found, mut normal) = (Vec::new(), String::new());
                normalize_in(&word, Casing::of_language(language), &mut normal);
                each_word(&normal, |range| found.push(normal[range].to_string()));
                assert_eq!(found, [word], "{language}");
            }
        }
    }

    #[test]
    fn the_commonest_words_are_there() {
        for (language, words) in [
            ("da", ["og", "i", "jeg"]),
            ("de", ["der", "und", "dass"]),
            ("en", ["the", "and", "don't"]),
            ("es", ["de", "la", "qué"]),
            ("fi", ["olla", "ja", "että"]),
            ("fr", ["le", "et", "été"]),
            ("hu", ["a", "az", "és"]),
            ("it", ["di", "che", "è"]),
            ("nl", ["de", "het", "een"]),
            ("no", ["og", "i", "å"]),
            ("pt", ["de", "não", "é"]),
            ("ru", ["и", "в", "не"]),
            ("sv", ["och", "det", "är"]),
            ("tr", ["ve", "bu", "mı"]),
        ] {
            let listed = stop_words(language).unwrap();
            assert!(words.iter().all(|word| listed.contains(&(*word).to_string())), "{language}: {listed:?}");
        }
        assert_eq!(stop_words("tlh"), None);
        assert_eq!(stop_words(""), None);
    }

    /// Signatures are stored, so the words that they are computed from must not change with a dependency.
    #[test]
    fn the_lists_are_always_the_same() {
        let lists = LANGUAGES.map(|language| (language, stop_words(language).unwrap()));
        let sums = lists.map(|(language, words)| (language, words.len(), xxh3_64(words.join(" ").as_bytes())));
        assert_eq!(
            sums.to_vec(),
            [
                ("da", 94, 5_826_249_378_981_258_533),
                ("de", 231, 2_072_343_523_438_360_841),
                ("en", 198, 13_464_021_487_142_870_438),
                ("es", 313, 11_714_379_551_788_737_031),
                ("fi", 229, 13_849_087_769_941_290_905),
                ("fr", 157, 18_154_234_241_332_710_124),
                ("hu", 197, 10_366_476_181_826_658_568),
                ("it", 279, 13_638_922_674_320_640_653),
                ("nl", 101, 14_697_026_897_509_165_565),
                ("no", 172, 15_266_092_231_919_289_735),
                ("pt", 207, 10_660_389_282_411_495_043),
                ("ru", 151, 8_766_161_526_668_199_064),
                ("sv", 114, 8_154_062_578_299_865_738),
                ("tr", 53, 6_479_951_898_323_767_829),
            ]
        );
    }
}
