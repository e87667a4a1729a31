use std::sync::Arc;

use arrow::array::StringArray;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::kind::Classifier;
use crate::arguments::{coerce_text, text_array};

/// `reuse_kind(a, b)`: the kind of copy that one sentence is of another.
#[user_doc(
    doc_section(label = "Comparison"),
    description = "The kind of copy that one of two similar sentences is of the other, after Ayhan, Bradley and \
                   Weissman (*Similar Sentence Detection Using LSH on Wikipedia*, section 6.1), who counted these \
                   kinds by hand. The first rule that applies decides:\n\n\
                   | kind | when | because |\n\
                   | --- | --- | --- |\n\
                   | `identical` | the texts differ only in white space, in composed characters (NFC) and in \
                   characters that are never shown | a reader sees no difference, but does see case and punctuation |\n\
                   | `reference` | both sentences are references: each has two pieces of evidence such as a year in \
                   parentheses, pages, volume, issue, ISBN, DOI, web address, a journal or press, initials, `et al.`, \
                   a quoted title, a label in brackets; or three pieces if it has a finite verb | a citation says \
                   where to find a work, and its numbers are not facts that drift |\n\
                   | `other` | the share of words that both have in the same order is below 0.6 and the share in any \
                   order is below 0.75; or, without function words, the share in the same order is below 0.3 | \
                   sentences with so little in common are not copies |\n\
                   | `template` | the subject, which is the words before the main verb, has another name or word; or a \
                   pronoun replaces the subject and numbers or names differ, too; or both numbers and names differ and \
                   the subject has no name. If a sentence has no subject of its own (“Return the …”, “This package …”, \
                   “a town in …”): a name differs anywhere, or a word differs as the only change or beside other \
                   numbers | the same is said of something else |\n\
                   | `factual_drift` | numbers, dates, currencies or names of one sentence are replaced by others; or \
                   a “not” is the only difference | both can hardly be true of the same subject |\n\
                   | `copy_edit` | everything else: changes of function words, punctuation, case, spelling or order, \
                   words replaced, added or left out | the same is said of the same subject |\n\n\
                   The words are aligned as by `differences`, in the spelling of `normalize`. `1,000` and `1000`, \
                   `5th` and `fifth`, `Oct.` and `October` are equal. Numbers of items and footnotes (`(a)`, `4.2.`, \
                   `[12]`) are left out, and titles (`Dr.`, `President`) are function words. A number in the place of \
                   a number counts as common, and so do two words that share 0.7 of their letters, which are two \
                   spellings of one word. A detail that only one sentence has is an edit. A number belongs to a name \
                   in “Debian 12”.\n\n\
                   The rules are made for English: they know its function words, its numbers and some 300 verbs, and \
                   they take a capital within a sentence as the sign of a name. In other languages, `identical`, \
                   `other` and different figures are recognised as in English. Without known verbs no subject is \
                   found, and without capitals no name: two Chinese sentences that differ in one word are a \
                   `template`, and those that differ in several words a `copy_edit`. German nouns are taken for names. \
                   No rule knows the meaning of words: “made of oak” and “made of steel” are a copy edit, as are \
                   “France beat Spain” and “Spain beat France”. [quality.md](quality.md#kinds-of-copies) has \
                   measurements.\n\n\
                   Returns Utf8; NULL where either text is NULL. `reuse_kind(b, a)` is the same. Takes as long as \
                   `differences`.",
    syntax_example = "reuse_kind(a, b)",
    sql_example = r#"```sql
> SELECT reuse_kind('Calder was mayor of Porto until 1997.', b) AS kind, b
  FROM (VALUES (1, 'Calder, a lawyer, was mayor of Porto until 1997.'), (2, 'Calder was mayor of Porto until 1999.'),
               (3, 'Merrick was mayor of Braga until 1985.'), (4, 'The river is long.')) AS t(id, b) ORDER BY id;
+---------------+--------------------------------------------------+
| kind          | b                                                |
+---------------+--------------------------------------------------+
| copy_edit     | Calder, a lawyer, was mayor of Porto until 1997. |
| factual_drift | Calder was mayor of Porto until 1999.            |
| template      | Merrick was mayor of Braga until 1985.           |
| other         | The river is long.                               |
+---------------+--------------------------------------------------+
```"#,
    argument(name = "a", description = "The first sentence, of any width of Utf8."),
    argument(name = "b", description = "The second sentence.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReuseKind {
    signature: Signature,
}

impl Default for ReuseKind {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for ReuseKind {
    fn name(&self) -> &str {
        "reuse_kind"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), a)?, coerce_text(self.name(), b)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let mut classifier = Classifier::default();
        let pairs = text_array(&a)?.iter().zip(text_array(&b)?);
        let kinds: StringArray = pairs.map(|(a, b)| Some(classifier.kind(a?, b?).name())).collect();
        Ok(ColumnarValue::Array(Arc::new(kinds)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
