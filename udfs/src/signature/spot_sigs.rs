use std::collections::HashSet;

use arrow::datatypes::DataType;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{JoinedTokens, sets_of_tokens};
use crate::arguments::{Tokens, coerce_tokens, constant, constant_count, keep_constants, set_type};

/// `spot_sigs(tokens, antecedents, distance, chain)`: the set of hashes of the word chains that follow common words.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The SpotSigs of a text (Theobald, Siddharth and Paepcke 2008; PDC-MR section 4.1): one hash for \
                   each occurrence of an antecedent, over the antecedent and a chain of words after it. The chain has \
                   `chain` words, each `distance` words after the one before, where antecedents are not counted; a \
                   `distance` of 2 and a `chain` of 3 are usual for documents. Chains that the end of the text cuts \
                   off are left out. A text without a whole chain has one signature, the hash of all its words, so \
                   that short sentences neither all collide nor vanish.\n\n\
                   Returns `List<UInt64>`, ascending and distinct; NULL for NULL, the empty set for an empty list.",
    syntax_example = "spot_sigs(tokens, antecedents, distance, chain)",
    sql_example = r#"```sql
> SELECT cardinality(spot_sigs(words('at a rally to kick off a weeklong campaign'), ['a', 'to'], 1, 2)) AS spots;
+-------+
| spots |
+-------+
| 3     |
+-------+
```"#,
    argument(name = "tokens", description = "The tokens, `List<Utf8>`."),
    argument(
        name = "antecedents",
        description = "The common words, `List<Utf8>`: a list, or the result of `frequent_tokens`; a constant."
    ),
    argument(
        name = "distance",
        description = "The distance in words between the words of a chain, from 1 to 1,000; a constant."
    ),
    argument(name = "chain", description = "The number of words in a chain, from 1 to 1,000; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpotSigs {
    signature: Signature,
}

impl Default for SpotSigs {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SpotSigs {
    fn name(&self) -> &str {
        "spot_sigs"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, antecedents, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![
            coerce_tokens(self.name(), tokens)?,
            coerce_tokens(self.name(), antecedents)?,
            DataType::Int64,
            DataType::Int64,
        ])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, antecedents, distance, chain] = take_function_args(self.name(), args.args)?;
        let count = |name, value| constant_count(self.name(), name, value, 1000);
        let (distance, chain) = (count("distance", &distance)?, count("chain", &chain)?);
        let antecedents = constant(self.name(), "antecedents", &antecedents)?.to_array()?;
        let antecedents = Tokens::try_new(&antecedents)?;
        let Some(antecedents) = antecedents.row(0) else {
            return exec_err!("{}: antecedents must not be NULL", self.name());
        };
        let antecedents: HashSet<&str> = antecedents.collect();

        let tokens = tokens.into_array(rows)?;
        let mut joined = JoinedTokens::default();
        Ok(sets_of_tokens(&Tokens::try_new(&tokens)?, rows, |row, set| {
            find_spots(row, &antecedents, distance, chain, &mut joined, set);
        }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `set` with the signatures of a row; `joined` is a reusable buffer.
fn find_spots<'a>(
    tokens: impl Iterator<Item = &'a str> + Clone,
    antecedents: &HashSet<&str>,
    distance: usize,
    chain: usize,
    joined: &mut JoinedTokens,
    set: &mut Vec<u64>,
) {
    set.clear();
    let words: Vec<&str> = tokens.clone().filter(|token| !antecedents.contains(token)).collect();
    // The number of words before the current token that are no antecedents.
    let mut before = 0;
    for token in tokens.clone() {
        if !antecedents.contains(token) {
            before += 1;
            continue;
        }
        let following = words[before..].iter().skip(distance - 1).step_by(distance).take(chain);
        if following.len() == chain {
            joined.refill(std::iter::once(token).chain(following.copied()));
            set.push(joined.hash(0..joined.len()));
        }
    }
    if set.is_empty() {
        joined.refill(tokens);
        if joined.len() > 0 {
            set.push(joined.hash(0..joined.len()));
        }
    }
    set.sort_unstable();
    set.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(text: &str, antecedents: &[&str], distance: usize, chain: usize) -> Vec<u64> {
        let mut set = Vec::new();
        let antecedents = antecedents.iter().copied().collect();
        find_spots(text.split(' '), &antecedents, distance, chain, &mut JoinedTokens::default(), &mut set);
        set
    }

    #[test]
    fn chains_pass_over_antecedents() {
        assert_eq!(spots("a rally to kick off", &["a"], 1, 2), spots("a rally to win", &["a"], 1, 2));
        assert_eq!(spots("a rally to kick", &["a", "to"], 1, 2), spots("a rally kick to", &["a", "to"], 1, 2));
    }

    #[test]
    fn distance_counts_words_that_are_no_antecedents() {
        assert_eq!(spots("the x big y dog", &["the"], 2, 2), spots("the q big z dog", &["the"], 2, 2));
    }

    #[test]
    fn a_text_without_a_whole_chain_is_its_own_signature() {
        assert_eq!(spots("no antecedent here", &["the"], 2, 3).len(), 1);
        assert_ne!(spots("no antecedent here", &["the"], 2, 3), spots("none here either", &["the"], 2, 3));
    }
}
