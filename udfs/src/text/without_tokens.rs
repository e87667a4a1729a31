use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::tokens_of_tokens;
use crate::arguments::{Tokens, coerce_tokens, constant, keep_constants, tokens_type};

/// `without_tokens(tokens, stop_words)`: the tokens that are not in a list.
#[user_doc(
    doc_section(label = "Text"),
    description = "The tokens in order, without the tokens of a list, such as the commonest words of a corpus \
                   (`frequent_tokens`) or the stop words of a language (`stop_words`).\n\n\
                   Returns `List<Utf8View>`, which shares the memory of the argument. NULL for NULL; the empty list if \
                   nothing is left; NULL tokens are left out.",
    syntax_example = "without_tokens(tokens, stop_words)",
    sql_example = r#"```sql
> SELECT without_tokens(words('the end of the world'), ['the', 'of']) AS left_over;
+--------------+
| left_over    |
+--------------+
| [end, world] |
+--------------+
```"#,
    argument(name = "tokens", description = "The tokens in order, `List<Utf8>`, as `words` gives them."),
    argument(
        name = "stop_words",
        description = "The tokens to leave out, `List<Utf8>`, in the same spelling; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct WithoutTokens {
    signature: Signature,
}

impl Default for WithoutTokens {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for WithoutTokens {
    fn name(&self) -> &str {
        "without_tokens"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, stop_words] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, coerce_tokens(self.name(), stop_words)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tokens_type())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, stop_words] = take_function_args(self.name(), args.args)?;
        let stop_words = constant(self.name(), "stop_words", &stop_words)?.to_array()?;
        let stop_words = Tokens::try_new(&stop_words)?;
        let Some(stop_words) = stop_words.row(0) else {
            return exec_err!("{}: stop_words must not be NULL", self.name());
        };
        let tokens = tokens.into_array(rows)?;
        Ok(ColumnarValue::Array(without_tokens(&tokens, &stop_words.collect())?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the lists of `tokens` without `stop_words`.
fn without_tokens(tokens: &ArrayRef, stop_words: &HashSet<&str>) -> Result<ArrayRef> {
    if stop_words.is_empty() && Tokens::try_new(tokens)?.items().null_count() == 0 {
        return Ok(Arc::clone(tokens));
    }
    tokens_of_tokens("without_tokens", tokens, |row, kept| {
        for (place, token) in row.with_places().filter(|(_, token)| !stop_words.contains(token)) {
            kept.push(place, token, 0..token.len());
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, AsArray, ListBuilder, StringViewBuilder};

    use super::*;

    fn lists(rows: &[Option<&[Option<&str>]>]) -> ArrayRef {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        for row in rows {
            row.iter().copied().flatten().for_each(|token| lists.values().append_option(*token));
            lists.append(row.is_some());
        }
        Arc::new(lists.finish())
    }

    fn left(tokens: &ArrayRef, stop_words: &[&str]) -> Vec<Option<Vec<String>>> {
        let kept = without_tokens(tokens, &stop_words.iter().copied().collect()).unwrap();
        let rows = kept.as_list::<i32>().iter();
        rows.map(|row| Some(row?.as_string_view().iter().flatten().map(String::from).collect())).collect()
    }

    #[test]
    fn order_and_repeats_stay() {
        let tokens = lists(&[Some(&[Some("b"), Some("the"), Some("a"), Some("b"), None])]);
        assert_eq!(left(&tokens, &["the"]), [Some(vec!["b".to_string(), "a".into(), "b".into()])]);
        assert_eq!(left(&tokens, &["a", "b", "the"]), [Some(vec![])]);
    }

    #[test]
    fn null_stays_null_and_slices_are_read_where_they_begin() {
        let tokens = lists(&[Some(&[Some("before")]), None, Some(&[]), Some(&[Some("x"), Some("of")])]).slice(1, 3);
        assert_eq!(left(&tokens, &["of"]), [None, Some(vec![]), Some(vec!["x".to_string()])]);
        assert_eq!(left(&tokens.slice(0, 0), &["of"]), []);
    }

    #[test]
    fn tokens_share_the_memory_of_the_argument() {
        let long = "a token that is too long for a view";
        let tokens = lists(&[Some(&[Some("of"), Some(long)])]);
        let kept = without_tokens(&tokens, &HashSet::from(["of"])).unwrap();
        let address = |array: &ArrayRef, k| array.as_list::<i32>().values().as_string_view().value(k).as_ptr();
        assert_eq!(address(&kept, 0), address(&tokens, 1));
    }
}
