use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ByteView};
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::tokens_of_tokens;
use crate::arguments::{Tokens, coerce_tokens, constant_count, tokens_type};

/// `truncate_tokens(tokens, n)`: the first characters of each token.
#[user_doc(
    doc_section(label = "Text"),
    description = "The first `n` characters of each token, in order: a substitute for a stemmer, since words of one \
                   stem mostly begin alike. CODET section 4 cuts Turkish words to five characters. Characters are \
                   Unicode code points, as in `characters`; `normalize` joins combining marks to their letters where \
                   Unicode has such a character.\n\n\
                   Returns `List<Utf8View>`, which shares the memory of the argument; tokens that become equal all \
                   stay. NULL for NULL; the empty list for an empty list; NULL tokens are left out.",
    syntax_example = "truncate_tokens(tokens, n)",
    sql_example = r#"```sql
> SELECT truncate_tokens(words('kitaplarımızdan kitaplar ve'), 5) AS stems;
+--------------------+
| stems              |
+--------------------+
| [kitap, kitap, ve] |
+--------------------+
```"#,
    argument(name = "tokens", description = "The tokens, `List<Utf8>`, as `words` gives them."),
    argument(name = "n", description = "The number of characters of a token to keep, from 1 to 65535; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TruncateTokens {
    signature: Signature,
}

impl Default for TruncateTokens {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for TruncateTokens {
    fn name(&self) -> &str {
        "truncate_tokens"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tokens_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, n] = take_function_args(self.name(), args.args)?;
        let n = constant_count(self.name(), "n", &n, u16::MAX)?;
        let tokens = tokens.into_array(rows)?;
        Ok(ColumnarValue::Array(truncate_tokens(&tokens, n)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the lists of `tokens` with the first `n` characters of each.
fn truncate_tokens(tokens: &ArrayRef, n: usize) -> Result<ArrayRef> {
    let items = Tokens::try_new(tokens)?.items();
    // No token has more characters than bytes.
    if items.null_count() == 0 && items.views().iter().all(|view| ByteView::from(*view).length as usize <= n) {
        return Ok(Arc::clone(tokens));
    }
    tokens_of_tokens("truncate_tokens", tokens, |row, cut| {
        for (place, token) in row.with_places() {
            cut.push(place, token, 0..start_of(token, n).len());
        }
    })
}

/// Returns the first `n` characters of `token`.
fn start_of(token: &str, n: usize) -> &str {
    match token.char_indices().nth(n) {
        Some((end, _)) => &token[..end],
        None => token,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, AsArray, ListBuilder, StringViewBuilder};
    use proptest::prelude::*;

    use super::*;

    fn list(tokens: &[&str]) -> ArrayRef {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        lists.append_value(tokens.iter().map(Some));
        Arc::new(lists.finish())
    }

    fn cut(tokens: &ArrayRef, n: usize) -> Vec<String> {
        let lists = truncate_tokens(tokens, n).unwrap();
        lists.as_list::<i32>().values().as_string_view().iter().flatten().map(String::from).collect()
    }

    #[test]
    fn characters_are_code_points() {
        assert_eq!(
            cut(&list(&["çöğüşü", "北京大学", "e\u{301}e\u{301}", "\u{301}", "ab", ""]), 3),
            ["çöğ", "北京大", "e\u{301}e", "\u{301}", "ab", ""]
        );
    }

    #[test]
    fn tokens_share_the_memory_of_the_argument() {
        let tokens = list(&["short", "a token that is too long for a view, and stays so"]);
        let cut = truncate_tokens(&tokens, 20).unwrap();
        let (cut, whole) = (cut.as_list::<i32>().values(), tokens.as_list::<i32>().values());
        assert_eq!(cut.as_string_view().value(1), "a token that is too ");
        assert_eq!(cut.as_string_view().value(1).as_ptr(), whole.as_string_view().value(1).as_ptr());
    }

    #[test]
    fn slices_are_read_where_they_begin() {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        lists.append_value([Some("before"), None]);
        lists.append_null();
        lists.append_value([None, Some("after, a long one"), Some("all")]);
        let lists: ArrayRef = Arc::new(lists.finish());
        let cut = truncate_tokens(&lists.slice(1, 2), 5).unwrap();
        let cut = cut.as_list::<i32>();
        assert!(cut.is_null(0));
        assert_eq!(cut.value(1).as_string_view().iter().collect::<Vec<_>>(), [Some("after"), Some("all")]);
    }

    proptest! {
        #[test]
        fn it_is_the_first_characters(tokens in prop::collection::vec("(\\PC|\u{301}|字){0,20}", 0..20), n in 1_usize..12) {
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let expected: Vec<String> = tokens.iter().map(|token| token.chars().take(n).collect()).collect();
            prop_assert_eq!(cut(&list(&tokens), n), expected);
        }
    }
}
