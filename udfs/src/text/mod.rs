//! Text: documents become sentences, sentences become tokens.
//!
//! Sentences and tokens are views into the text they were cut from: cutting copies nothing.

mod broken_words;
mod characters;
mod count_characters;
mod languages;
mod lines;
mod normalize;
mod paragraphs;
mod sentence_rules;
mod sentences;
mod stop_words;
mod truncate_tokens;
mod without_tokens;
mod words;

pub use languages::{Language, LanguageChoice, language_of, languages};
pub(crate) use normalize::normalize;
pub(crate) use sentence_rules::split as split_sentences;
pub use sentence_rules::{Rule as SentenceRule, sentence_rules};
pub use sentences::{each_sentences, sentence_fields};

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, ByteView, ListArray, MAX_INLINE_VIEW_LEN, StringViewArray, make_view};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, ScalarUDF};
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use crate::arguments::{TokenRow, Tokens, text_array};

/// Returns the functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::from(sentences::Sentences::default()),
        ScalarUDF::from(words::Words::default()),
        ScalarUDF::from(characters::Characters::default()),
        ScalarUDF::from(count_characters::CountCharacters::default()),
        ScalarUDF::from(lines::Lines::default()),
        ScalarUDF::from(paragraphs::Paragraphs::default()),
        ScalarUDF::from(without_tokens::WithoutTokens::default()),
        ScalarUDF::from(stop_words::StopWords::default()),
        ScalarUDF::from(truncate_tokens::TruncateTokens::default()),
        ScalarUDF::from(normalize::Normalize::default()),
    ]
}

/// Returns the segmenter of texts. It loads its models once, which takes longer than to segment a few words.
fn segmenter() -> WordSegmenterBorrowed<'static> {
    static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
        LazyLock::new(|| WordSegmenter::new_auto(Default::default()));
    *SEGMENTER
}

/// Calls `found` with the range of each word of `text`, as the function `words` cuts it.
pub(crate) fn each_word(text: &str, mut found: impl FnMut(Range<usize>)) {
    words::words(text, &mut found);
}

/// Calls `found` with the range of each segment of `text`, the words and the text between them, in order and without
/// gaps.
pub(crate) fn each_segment(text: &str, mut found: impl FnMut(Range<usize>)) {
    let mut start = 0;
    for end in segmenter().segment_str(text) {
        if start < end {
            found(start..end);
        }
        start = end;
    }
}

/// Parts of the texts of a column.
pub(crate) struct Pieces<'a> {
    texts: &'a StringViewArray,
    views: Vec<u128>,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(texts: &'a StringViewArray) -> Self {
        Self { texts, views: Vec::new() }
    }

    /// Adds the part `range` of `text`, which is the text of row `row`.
    #[expect(clippy::cast_possible_truncation, reason = "views of Arrow hold lengths and offsets as u32")]
    pub(crate) fn push(&mut self, row: usize, text: &str, range: Range<usize>) {
        let whole = ByteView::from(self.texts.views()[row]);
        let (buffer, offset) =
            if whole.length <= MAX_INLINE_VIEW_LEN { (0, 0) } else { (whole.buffer_index, whole.offset) };
        self.views.push(make_view(&text.as_bytes()[range.clone()], buffer, offset + range.start as u32));
    }

    pub(crate) fn len(&self) -> usize {
        self.views.len()
    }

    pub(crate) fn finish(self) -> Result<StringViewArray> {
        Ok(StringViewArray::try_new(ScalarBuffer::from(self.views), self.texts.data_buffers().to_vec(), None)?)
    }
}

/// The lists of a column.
pub(crate) struct Lists {
    function: &'static str,
    ends: Vec<i32>,
    nulls: Option<NullBuffer>,
}

impl Lists {
    /// Creates the lists for the rows of a column of texts; a list is NULL where the text is.
    fn new(function: &'static str, texts: &StringViewArray) -> Self {
        Self::with_nulls(function, texts.len(), texts.nulls().cloned())
    }

    pub(crate) fn with_nulls(function: &'static str, rows: usize, nulls: Option<NullBuffer>) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self { function, ends, nulls }
    }

    /// Ends the list of a row. `items` is the number of items in all lists so far.
    pub(crate) fn end_row(&mut self, items: usize) -> Result<()> {
        let Ok(end) = i32::try_from(items) else {
            return exec_err!(
                "{}: the lists of one batch have more than {} items; set datafusion.execution.batch_size to a lower number",
                self.function,
                i32::MAX
            );
        };
        self.ends.push(end);
        Ok(())
    }

    pub(crate) fn finish(self, items: ArrayRef) -> Result<ListArray> {
        let field = arrow::datatypes::Field::new_list_field(items.data_type().clone(), true);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        Ok(ListArray::try_new(Arc::new(field), offsets, items, self.nulls)?)
    }
}

/// Returns a list of tokens for each text. `cut` calls its second argument with the range of each token.
fn tokenize(
    function: &'static str,
    text: &ColumnarValue,
    rows: usize,
    mut cut: impl FnMut(&str, &mut dyn FnMut(Range<usize>)),
) -> Result<ColumnarValue> {
    let texts = text.to_array(rows)?;
    let texts = text_array(&texts)?;
    let mut pieces = Pieces::new(texts);
    let mut lists = Lists::new(function, texts);
    for (row, text) in texts.iter().enumerate() {
        if let Some(text) = text {
            cut(text, &mut |range| pieces.push(row, text, range));
        }
        lists.end_row(pieces.len())?;
    }
    Ok(ColumnarValue::Array(Arc::new(lists.finish(Arc::new(pieces.finish()?))?)))
}

/// Returns a list of tokens for each list of tokens, NULL for NULL. `make` adds the parts of a row's tokens that stay,
/// which share their text with the argument.
pub(crate) fn tokens_of_tokens(
    function: &'static str,
    tokens: &ArrayRef,
    mut make: impl FnMut(TokenRow<'_>, &mut Pieces<'_>),
) -> Result<ArrayRef> {
    let rows = Tokens::try_new(tokens)?;
    let mut pieces = Pieces::new(rows.items());
    let mut lists = Lists::with_nulls(function, tokens.len(), rows.nulls().cloned());
    for i in 0..tokens.len() {
        if let Some(row) = rows.row(i) {
            make(row, &mut pieces);
        }
        lists.end_row(pieces.len())?;
    }
    Ok(Arc::new(lists.finish(Arc::new(pieces.finish()?))?))
}
