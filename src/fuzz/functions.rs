//! Fuzz targets for the SQL functions, called as SQL calls them, on columns of a few rows.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, FixedSizeBinaryArray, Int32Array, Int64Array, ListArray,
    StringViewArray, StructArray, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Int64Type, UInt64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF};
use ibid_udfs::similarity::count_common;

use super::two_texts;
use crate::fuzzing::choices;

static FUNCTIONS: LazyLock<HashMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
    ibid_udfs::scalar_functions().into_iter().map(|function| (function.name().to_owned(), function)).collect()
});

/// Returns the result of a function for arguments of one row.
fn try_call(name: &str, args: Vec<ColumnarValue>) -> Result<ArrayRef> {
    let function = &FUNCTIONS[name];
    let types: Vec<_> = args.iter().map(ColumnarValue::data_type).collect();
    let types = function.coerce_types(&types)?;
    let args: Vec<_> = args.iter().zip(&types).map(|(arg, to)| arg.cast_to(to, None)).collect::<Result<_>>()?;
    let arg_fields: Vec<_> = types.into_iter().map(|to| Arc::new(Field::new("a", to, true))).collect();
    let constants: Vec<_> =
        args.iter().map(|arg| if let ColumnarValue::Scalar(value) = arg { Some(value) } else { None }).collect();
    let given = ReturnFieldArgs { arg_fields: &arg_fields, scalar_arguments: &constants };
    let return_field = function.return_field_from_args(given)?;
    let config_options = Arc::new(ConfigOptions::default());
    let given = ScalarFunctionArgs { args, arg_fields, number_rows: 1, return_field, config_options };
    let found = function.invoke_with_args(given)?.into_array(1)?;
    assert_eq!(found.len(), 1, "{name}");
    Ok(found)
}

/// Calls a function as [`try_call`] does, with arguments that must be accepted.
pub(super) fn call(name: &str, args: Vec<ColumnarValue>) -> ArrayRef {
    try_call(name, args).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn column(array: impl Array + 'static) -> ColumnarValue {
    ColumnarValue::Array(Arc::new(array))
}

pub(super) fn text(text: &str) -> ColumnarValue {
    column(StringViewArray::from_iter_values([text]))
}

pub(super) fn number(n: usize) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::Int64(Some(i64::try_from(n).unwrap())))
}

pub(super) fn fraction(n: usize) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::Float64(Some(n as f64 / 255.0)))
}

/// Returns a constant list of texts.
pub(super) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::List(Arc::new(list(Arc::new(StringViewArray::from_iter_values(texts))))))
}

fn constant(value: &str) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::Utf8(Some(value.to_owned())))
}

/// Returns a column with one list.
fn list(items: ArrayRef) -> ListArray {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    ListArray::new(field, OffsetBuffer::from_lengths([items.len()]), items, None)
}

fn set(elements: impl IntoIterator<Item = u64>) -> ListArray {
    list(Arc::new(UInt64Array::from_iter_values(elements)))
}

pub(super) fn elements(found: &ArrayRef) -> Vec<u64> {
    found.as_list::<i32>().value(0).as_primitive::<UInt64Type>().values().to_vec()
}

fn strings(found: &ArrayRef) -> Vec<String> {
    found.as_list::<i32>().value(0).as_string_view().iter().map(|text| text.unwrap().to_owned()).collect()
}

fn string(found: &ArrayRef) -> String {
    found.as_string_view().value(0).to_owned()
}

/// Returns the fields of the structs of a list, as numbers.
fn numbers(found: &ArrayRef, names: &[&str]) -> Vec<Vec<usize>> {
    let structs = found.as_list::<i32>().value(0);
    let structs = structs.as_struct();
    let column = |name: &&str| structs.column_by_name(name).unwrap().as_primitive::<Int32Type>().clone();
    let columns: Vec<_> = names.iter().map(column).collect();
    (0..structs.len())
        .map(|row| columns.iter().map(|column| usize::try_from(column.value(row)).unwrap()).collect())
        .collect()
}

pub(super) fn of(found: ArrayRef) -> ColumnarValue {
    ColumnarValue::Array(found)
}

/// Checks that sentences are in order, at the places that they report, with nothing but white space between them.
pub(super) fn sentences(data: &[u8]) {
    let given = String::from_utf8_lossy(data);
    let found = call("sentences", vec![text(&given)]);
    let places = numbers(&found, &["sent", "char_start", "char_end", "byte_start", "byte_end"]);
    let structs = found.as_list::<i32>().value(0);
    let texts = structs.as_struct().column_by_name("text").unwrap().as_string_view().clone();
    let (mut byte, mut char) = (0, 0);
    for (n, place) in places.iter().enumerate() {
        let [sent, char_start, char_end, start, end] = place[..] else { unreachable!() };
        assert_eq!(sent, n);
        let between = &given[byte..start];
        assert!(between.chars().all(char::is_whitespace), "{between:?} is left out");
        let sentence = &given[start..end];
        assert!(!sentence.is_empty() && sentence.trim() == sentence, "{sentence:?}");
        assert_eq!(sentence, texts.value(n));
        assert_eq!((char_start, char_end), (char + between.chars().count(), char_start + sentence.chars().count()));
        (byte, char) = (end, char_end);
    }
    assert!(given[byte..].chars().all(char::is_whitespace), "{:?} is left out", &given[byte..]);
}

/// Checks that tokens are parts of the text, in order.
pub(super) fn tokens(data: &[u8]) {
    let ([n, start, end], data) = choices(data);
    let given = String::from_utf8_lossy(data);
    for name in ["words", "characters", "lines"] {
        let found = call(name, vec![text(&given)]);
        let tokens = strings(&found);
        let mut rest = &*given;
        for token in &tokens {
            let at = rest.find(token.as_str()).unwrap_or_else(|| panic!("{name}: {token:?} is no part of the rest"));
            rest = &rest[at + token.len()..];
        }
        match name {
            "characters" => assert_eq!(tokens.concat(), given.split_whitespace().collect::<String>()),
            "lines" => assert_eq!(tokens, given.lines().collect::<Vec<_>>()),
            _ => assert!(tokens.iter().all(|token| token.chars().any(char::is_alphanumeric)), "{tokens:?}"),
        }
        let cut = strings(&call("truncate_tokens", vec![of(Arc::clone(&found)), number(1 + n)]));
        let expected: Vec<String> = tokens.iter().map(|token| token.chars().take(1 + n).collect()).collect();
        assert_eq!(cut, expected);
        let stop = texts(tokens.first().map(String::as_str));
        let left = strings(&call("without_tokens", vec![of(found), stop]));
        assert_eq!(left, tokens.iter().filter(|token| Some(*token) != tokens.first()).cloned().collect::<Vec<_>>());
    }
    let place = |at: usize| column(Int32Array::from(vec![i32::try_from(at).unwrap()]));
    match try_call("count_characters", vec![text(&given), place(start), place(end)]) {
        Ok(found) => assert_eq!(
            usize::try_from(found.as_primitive::<Int32Type>().value(0)),
            Ok(given[start..end].chars().count())
        ),
        Err(_) => assert!(given.get(start..end).is_none()),
    }
}

/// Checks that a normal form is its own normal form.
pub(super) fn normalize(data: &[u8]) {
    let given = String::from_utf8_lossy(data);
    for language in [None, Some("tr")] {
        let form = |given: &str| {
            let language = language.map(constant);
            string(&call("normalize", std::iter::once(text(given)).chain(language).collect()))
        };
        let once = form(&given);
        assert_eq!(form(&once), once, "{given:?}");
        assert!(once.trim() == once && !once.contains("  "), "{once:?}");
        assert!(once.len() <= 18 * given.len(), "{} bytes of {}", once.len(), given.len());
    }
}

/// Checks that signatures are sets, and that they are related as their definitions say.
pub(super) fn signatures(data: &[u8]) {
    let ([n, m, frequent], data) = choices(data);
    let (n, m) = (1 + n % 12, 1 + m % 12);
    let given = String::from_utf8_lossy(data);
    let words = call("words", vec![text(&given)]);
    let tokens = strings(&words);
    let words = || of(Arc::clone(&words));
    let set_of = |name: &str, args: Vec<ColumnarValue>| {
        let found = elements(&call(name, args));
        assert!(found.is_sorted_by(|a, b| a < b), "{name} gives no set: {found:?}");
        assert_eq!(found.is_empty(), tokens.is_empty(), "{name}");
        found
    };
    let shingles = set_of("shingles", vec![words(), number(n)]);
    assert!(shingles.len() <= (tokens.len() + 1).saturating_sub(n).max(1));
    let stepped = set_of("shingles", vec![words(), number(n), number(m)]);
    assert!(stepped.iter().all(|hash| shingles.binary_search(hash).is_ok()));
    assert_eq!(set_of("winnow", vec![words(), number(n), number(1)]), shingles);
    let winnowed = set_of("winnow", vec![words(), number(n), number(m)]);
    assert!(winnowed.iter().all(|hash| shingles.binary_search(hash).is_ok()));
    assert_eq!(set_of("multiset", vec![words()]).len(), tokens.len());
    set_of("skip_bigrams", vec![words(), number(m)]);
    set_of("subwords", vec![words(), number(n)]);
    let antecedents = texts(tokens.iter().take(frequent % 8).map(String::as_str));
    set_of("spot_sigs", vec![words(), antecedents, number(n), number(m)]);

    let shingles = || column(set(shingles.iter().copied()));
    let minhashes = call("minhash", vec![shingles(), number(n * m)]);
    assert_eq!(minhashes.is_null(0), tokens.is_empty());
    if !tokens.is_empty() {
        assert_eq!(minhashes.as_list::<i32>().value(0).len(), n * m);
        let bands = elements(&call("bands", vec![of(minhashes), number(n), number(m)]));
        assert!(bands.is_sorted_by(|a, b| a < b) && bands.len() <= n);
    }
    call("simhash", vec![shingles()]);

    // Arbitrary frequencies, as a table that a user made can have them.
    let hashes = tokens.iter().map(|token| token.len() as u64);
    let counts = tokens.iter().map(|token| i64::from(token.as_bytes()[0]) - 100);
    let frequencies = frequencies(frequent, hashes.collect(), counts.collect());
    let constants = |numbers: &[usize]| numbers.iter().map(|n| number(*n)).collect::<Vec<_>>();
    for (name, first, more) in [
        ("i_match", words(), vec![fraction(n), fraction(255)]),
        ("i_match_ranked", words(), constants(&[m, n])),
        ("without_rarest", words(), constants(&[m])),
        ("trie_nodes", words(), constants(&[n, m])),
        ("weighted", shingles(), constants(&[n])),
        ("simhash", shingles(), vec![]),
    ] {
        call(name, [vec![first, frequencies.clone()], more].concat());
    }
}

/// Returns a value that `document_frequencies` could return.
pub(super) fn frequencies(documents: usize, tokens: Vec<u64>, counts: Vec<i64>) -> ColumnarValue {
    let tokens = list(Arc::new(UInt64Array::from(tokens)));
    let counts = list(Arc::new(Int64Array::from(counts)));
    let field = |name: &str, array: &dyn Array| Arc::new(Field::new(name, array.data_type().clone(), false));
    let documents = Int64Array::from(vec![i64::try_from(documents).unwrap()]);
    let fields = [
        (field("documents", &documents), Arc::new(documents) as ArrayRef),
        (field("tokens", &tokens), Arc::new(tokens)),
        (field("frequencies", &counts), Arc::new(counts)),
    ];
    ColumnarValue::Scalar(ScalarValue::Struct(Arc::new(StructArray::from(fields.to_vec()))))
}

/// Checks that similarities are those of the sets, packed or not, and that no filter loses a pair.
pub(super) fn sets(data: &[u8]) {
    let ([parted, threshold], data) = choices(data);
    let threshold = (1 + threshold) as f64 / 256.0;
    let (a, b) = data.split_at(parted.min(data.len()));
    let sorted = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte) % 64).collect::<BTreeSet<_>>();
    let (a, b): (Vec<_>, Vec<_>) = (sorted(a).into_iter().collect(), sorted(b).into_iter().collect());
    let packed = |set: &[u64]| call("pack_set", vec![column(self::set(set.iter().copied()))]);
    let common = a.iter().filter(|element| b.contains(element)).count();
    assert_eq!(count_common(&a, &b), common);
    for set in [&a, &b] {
        assert_eq!(elements(&call("unpack_set", vec![of(packed(set))])), *set);
    }
    let float = |found: &ArrayRef| found.is_valid(0).then(|| found.as_primitive::<Float64Type>().value(0));
    let lists = || vec![column(set(a.iter().copied())), column(set(b.iter().copied()))];
    let least = ColumnarValue::Scalar(ScalarValue::Float64(Some(threshold)));
    for name in ["jaccard", "dice", "cosine"] {
        let similarity = call(name, lists());
        assert_eq!(float(&similarity), float(&call(name, vec![of(packed(&a)), of(packed(&b))])), "{name}");
        if name == "jaccard" && !(a.is_empty() && b.is_empty()) {
            assert_eq!(float(&similarity), Some(common as f64 / (a.len() + b.len() - common) as f64));
        }
        if float(&similarity).is_some_and(|similarity| similarity >= threshold) {
            let passes = call("length_filter", [lists(), vec![constant(name), least.clone()]].concat());
            assert!(passes.as_boolean().value(0), "{name} of {a:?} and {b:?} at {threshold}");
            let prefix = |set: &[u64]| {
                let set = column(self::set(set.iter().copied()));
                elements(&call("prefix_filter", vec![set, constant(name), least.clone()]))
            };
            let (a, b) = (prefix(&a), prefix(&b));
            assert!(count_common(&a, &b) > 0, "{name}: the prefixes {a:?} and {b:?} share nothing at {threshold}");
        }
    }
    // Arbitrary bytes in place of a packed set.
    let bytes = column(BinaryViewArray::from_iter_values([data]));
    for name in ["jaccard", "overlap", "containment", "first_common_token"] {
        let _ = try_call(name, vec![bytes.clone(), of(packed(&b))]);
    }
    let _ = try_call("unpack_set", vec![bytes]);
}

/// Checks arbitrary codes and codebooks.
pub(super) fn codes(data: &[u8]) {
    let ([width, per_word, k], data) = choices(data);
    let width = [4, 8, 16, 32][width % 4];
    let whole = |bytes: &[u8]| [bytes, &vec![0; width]].concat()[..width].to_vec();
    let code = |bytes: &[u8]| FixedSizeBinaryArray::try_from_iter(std::iter::once(whole(bytes))).unwrap();
    let (a, b) = data.split_at(data.len() / 2);
    let distance = call("hamming", vec![column(code(a)), column(code(b))]).as_primitive::<Int64Type>().value(0);
    let expected: u32 = whole(a).iter().zip(whole(b)).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!(distance, i64::from(expected));
    let bands = |bytes: &[u8]| elements(&call("hamming_bands", vec![column(code(bytes)), number(k % (8 * width))]));
    if usize::try_from(distance).unwrap() <= k % (8 * width) {
        assert!(count_common(&bands(a), &bands(b)) > 0, "no band in common at {k}");
    }
    let words = elements(&call("code_words", vec![column(code(a))]));
    let bits: u32 = words.iter().map(|word| word.count_ones()).sum();
    assert_eq!(bits, whole(a).iter().map(|byte| byte.count_ones()).sum::<u32>());

    let hashes: Vec<u64> = data.chunks(8).map(|chunk| chunk.iter().map(|byte| u64::from(*byte)).sum()).collect();
    let per_word = i32::try_from(per_word).unwrap() - 8;
    let Some(codebook) = codebook(per_word, hashes, data.chunks(width).map(whole).collect()) else { return };
    let tokens = call("words", vec![text(&String::from_utf8_lossy(data))]);
    let _ = try_call("bit_code", vec![of(tokens), codebook]);
}

/// Returns a value that `codebook` could return, if there is a code.
pub(super) fn codebook(per_word: i32, words: Vec<u64>, codes: Vec<Vec<u8>>) -> Option<ColumnarValue> {
    let codes: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter(codes.into_iter()).ok()?);
    let (words, codes) = (set(words), list(codes));
    let field = |name: &str, to: &DataType| Arc::new(Field::new(name, to.clone(), false));
    let codebook = StructArray::from(vec![
        (field("per_word", &DataType::Int32), Arc::new(Int32Array::from(vec![per_word])) as _),
        (field("words", words.data_type()), Arc::new(words) as _),
        (field("codes", codes.data_type()), Arc::new(codes) as ArrayRef),
    ]);
    Some(ColumnarValue::Scalar(ScalarValue::Struct(Arc::new(codebook))))
}

/// Checks that the similarity is that of the plain algorithm, whichever text comes first.
pub(super) fn edit_similarity(data: &[u8]) {
    let ([least], data) = choices(data);
    let (a, b) = two_texts(data);
    let similarity = |a: &str, b: &str, more: Option<ColumnarValue>| {
        let found = call("edit_similarity", [text(a), text(b)].into_iter().chain(more).collect());
        found.is_valid(0).then(|| found.as_primitive::<Float64Type>().value(0))
    };
    let found = similarity(&a, &b, None).unwrap();
    assert_eq!(similarity(&b, &a, None), Some(found));
    let longer = a.chars().count().max(b.chars().count());
    if longer <= 300 {
        let expected = if longer == 0 { 1.0 } else { (longer - strsim::levenshtein(&a, &b)) as f64 / longer as f64 };
        assert_eq!(found, expected);
    }
    let bounded = similarity(&a, &b, Some(fraction(least)));
    assert_eq!(bounded, (found >= least as f64 / 255.0).then_some(found));
}

/// Checks that replacing each difference gives the other text, and that kinds are the same either way.
pub(super) fn differences(data: &[u8]) {
    let (a, b) = two_texts(data);
    let found = call("differences", vec![text(&a), text(&b)]);
    let places = numbers(&found, &["byte_a_start", "byte_a_end", "byte_b_start", "byte_b_end"]);
    let (mut made, mut at) = (String::new(), 0);
    for place in &places {
        let [a_start, a_end, b_start, b_end] = place[..] else { unreachable!() };
        made += &a[at..a_start];
        made += &b[b_start..b_end];
        at = a_end;
    }
    made += &a[at..];
    assert_eq!(made, b);
    assert_eq!(places.is_empty(), a == b);
    let kind = |a: &str, b: &str| call("reuse_kind", vec![text(a), text(b)]).as_string::<i32>().value(0).to_owned();
    assert_eq!(kind(&a, &b), kind(&b, &a));
    assert!(a != b || kind(&a, &b) == "identical");
}

/// Checks that passages are within their texts.
pub(super) fn edited_passages(data: &[u8]) {
    let ([cosine, gap, characters, seeds], data) = choices(data);
    let (a, b) = two_texts(data);
    let (count_a, count_b) = (count_sentences(&a), count_sentences(&b));
    let seeds = if count_a.min(count_b) == 0 { 0 } else { seeds % 16 };
    let seeds = (0..seeds).map(|n| (i32::try_from(n % count_a).unwrap(), i32::try_from(n / 2 % count_b).unwrap()));
    let found = find_edited(&a, &b, seeds, [fraction(cosine), number(gap), number(characters)]);
    let places = numbers(&found, &["byte_a_start", "byte_a_end", "byte_b_start", "byte_b_end"]);
    for place in &places {
        let [a_start, a_end, b_start, b_end] = place[..] else { unreachable!() };
        assert!(a[a_start..a_end].chars().count() >= characters && b[b_start..b_end].chars().count() >= characters);
    }
    let found = find_shared(&a, &b);
    let ends: Vec<_> =
        found.as_struct().columns().iter().map(|column| column.as_primitive::<Int32Type>().value(0)).collect();
    let [a_start, a_end, b_start, b_end] =
        ends.iter().map(|end| usize::try_from(*end).unwrap()).collect::<Vec<_>>()[..]
    else {
        unreachable!()
    };
    assert!(a.get(a_start..a_end).is_some() && b.get(b_start..b_end).is_some());
}

pub(super) fn count_sentences(given: &str) -> usize {
    call("sentences", vec![text(given)]).as_list::<i32>().value(0).len()
}

/// Returns the result of `edited_passages` for pairs of sentences as seeds.
pub(super) fn find_edited(
    a: &str,
    b: &str,
    seeds: impl Iterator<Item = (i32, i32)>,
    rules: [ColumnarValue; 3],
) -> ArrayRef {
    let (of_a, of_b): (Vec<_>, Vec<_>) = seeds.unzip();
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int32, true));
    let seeds = StructArray::from(vec![
        (field("sent_a"), Arc::new(Int32Array::from(of_a)) as ArrayRef),
        (field("sent_b"), Arc::new(Int32Array::from(of_b)) as ArrayRef),
    ]);
    let seeds = column(list(Arc::new(seeds)));
    call("edited_passages", [vec![text(a), text(b), seeds], rules.to_vec()].concat())
}

/// Returns the result of `shared_words` for whole texts.
pub(super) fn find_shared(a: &str, b: &str) -> ArrayRef {
    let place = |at: usize| column(Int32Array::from(vec![i32::try_from(at).unwrap()]));
    call("shared_words", vec![text(a), place(0), place(a.len()), text(b), place(0), place(b.len())])
}
