use std::sync::Arc;

use arrow::array::FixedSizeBinaryArray;
use arrow::buffer::Buffer;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::codebook::{Codes, code_type, codebook_of, width_of_argument};
use crate::arguments::{Tokens, coerce_tokens, keep_constants};

/// `bit_code(tokens, codebook)`: the code of a sentence.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The code of a sentence: all bits that its words set (LEARNED-CODES section 3). Sentences with many \
                   words in common have codes that differ in few bits. A word in the codebook sets the bits of its \
                   code; any other word sets as many bits, chosen by its MD5 hash. The order of the words and the \
                   number of their occurrences make no difference.\n\n\
                   For all sentences whose sets of words have a similarity of `t` or more, `hamming(a.code, b.code) <= \
                   hamming_bound(a.words, b.words, 'jaccard', t, per_word)` holds, where `words` is the number of \
                   different words and `per_word` the number of bits that a word sets. As a filter, this condition \
                   loses no pair. The search of the paper, `hamming(a.code, b.code) <= d`, can lose pairs. The more \
                   words a sentence has, the more bits are set, and the less the code tells: 30 words of two bits by \
                   chance set about 27 of 32.\n\n\
                   Returns `FixedSizeBinary(n)`, with as many bytes as the codes of the codebook, the same from \
                   release to release: bit i is bit i % 8 of byte i / 8. NULL for NULL; no bit is set for an empty \
                   list; NULL tokens are left out. A codebook that is NULL is an error.",
    syntax_example = "bit_code(tokens, codebook)",
    sql_example = r#"```sql
> WITH codes AS (
    SELECT word, arrow_cast(code, 'FixedSizeBinary(4)') AS code
    FROM (VALUES ('copied', x'01000080'), ('text', x'03000000')) AS t(word, code))
  SELECT encode(arrow_cast(code, 'Binary'), 'hex') AS code
  FROM (SELECT bit_code(words(normalize(text)), (SELECT codebook(word, code) FROM codes)) AS code
    FROM (VALUES ('Copied text is text'), ('text')) AS t(text)) AS coded;
+----------+
| code     |
+----------+
| 07000880 |
| 03000000 |
+----------+
```"#,
    argument(
        name = "tokens",
        description = "The tokens of the sentence, `List<Utf8>`, as `words` or `characters` give them."
    ),
    argument(name = "codebook", description = "The result of `codebook`; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct BitCode {
    signature: Signature,
}

impl Default for BitCode {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for BitCode {
    fn name(&self) -> &str {
        "bit_code"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, codebook] = take_function_args(self.name(), given)?;
        let width = width_of_argument(self.name(), codebook)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, codebook_of(width)])
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        let [_, codebook] = take_function_args(self.name(), given)?;
        Ok(code_type(width_of_argument(self.name(), codebook)?))
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [tokens, codebook] = take_function_args(self.name(), args.args)?;
        let codebook = Codes::try_new(self.name(), &codebook)?;
        let tokens = tokens.into_array(rows)?;
        let sentences = Tokens::try_new(&tokens)?;
        let bytes = codebook.width().bytes();
        let mut codes = vec![0; rows * bytes];
        for (i, code) in codes.chunks_exact_mut(bytes).enumerate() {
            sentences.row(i).into_iter().flatten().for_each(|word| codebook.set(word, code));
        }
        let nulls = sentences.nulls().cloned();
        let codes = FixedSizeBinaryArray::try_new(i32::try_from(bytes).unwrap_or(0), Buffer::from_vec(codes), nulls)?;
        Ok(ColumnarValue::Array(Arc::new(codes)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
