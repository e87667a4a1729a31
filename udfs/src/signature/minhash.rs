use std::array::from_fn;
use std::sync::Arc;

use arrow::array::{ListArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use ibid_codes::split_mix;

use crate::arguments::{Sets, coerce_one_set, constant_count, constant_integer, minhash_item, minhash_type};

/// `minhash(set, k [, seed])`: the smallest element of a set in `k` random orders.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The `k` minhashes of a set: for each of `k` hash functions, the smallest value over the elements of \
                   the set. Two sets agree in a place with a probability equal to their Jaccard similarity (Broder \
                   1997). So the share of equal places, `minhash_jaccard`, estimates the similarity with a standard \
                   error of at most 1 / (2 √k): .044 for 128. WIKI-LSH builds its signatures from minhashes, as \
                   `bands` does.\n\n\
                   The functions are a multiply-shift family (Dietzfelbinger et al. 1997): hᵢ(x) = (aᵢ · mix(x) + bᵢ) \
                   mod 2⁶⁴, of which the upper 32 bits are kept. SplitMix64 (Steele, Lea and Flood 2014) generates the \
                   numbers a₁, b₁, a₂, b₂ and so on from the seed, and the lowest bit of each aᵢ is set. mix(x) is the \
                   first number that SplitMix64 generates from x, so that neighbouring integers do not have \
                   neighbouring hashes. With the same seed, a smaller `k` gives the first minhashes of a larger \
                   one.\n\n\
                   Returns `List<UInt32>` with `k` elements that stay the same from release to release. NULL for NULL \
                   and for the empty set.",
    syntax_example = "minhash(set, k [, seed])",
    sql_example = r#"```sql
> SELECT minhash([1, 2, 3], 4) AS minhash, minhash([1, 2, 3], 2, 7) AS with_a_seed;
+-------------------------------------------------+-------------------------+
| minhash                                         | with_a_seed             |
+-------------------------------------------------+-------------------------+
| [2103070037, 1490344945, 1902622352, 480362213] | [1356747274, 552556086] |
+-------------------------------------------------+-------------------------+
```"#,
    argument(
        name = "set",
        description = "The set, `List<UInt64>`, as `shingles` gives it, or a list of any integers."
    ),
    argument(name = "k", description = "The number of hash functions, from 1 to 4096; a constant."),
    argument(
        name = "seed",
        description = "The seed of the hash functions, from 0; 0 if left out; a constant. Only minhashes with the same \
                       seed can be compared."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Minhash {
    signature: Signature,
}

impl Default for Minhash {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Minhash {
    fn name(&self) -> &str {
        "minhash"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (Some(set), 2 | 3) = (given.first(), given.len()) else {
            return plan_err!("minhash expects (set, k [, seed]), got {} arguments", given.len());
        };
        let parameters = given[1..].iter().map(|_| DataType::Int64);
        Ok([coerce_one_set(self.name(), set)?].into_iter().chain(parameters).collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(minhash_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let (set, k, seed) = match args.args.as_slice() {
            [set, k] => (set, k, None),
            [set, k, seed] => (set, k, Some(seed)),
            other => return exec_err!("minhash expects (set, k [, seed]), got {} arguments", other.len()),
        };
        let k = constant_count(self.name(), "k", k, 4096)?;
        let seed = seed.map_or(Ok(0), |seed| constant_integer(self.name(), "seed", seed, 0..=i64::MAX))?;
        let family = Family::new(k, seed.unsigned_abs());
        let set = set.to_array(rows)?;
        let sets = Sets::try_new(&set)?;
        if rows.checked_mul(k).is_none_or(|length| i32::try_from(length).is_err()) {
            return exec_err!("minhash: {k} hashes of {rows} rows are too many for a batch; make batches smaller");
        }
        let mut minhashes = Vec::with_capacity(rows * k);
        let (mut scratch, mut smallest) = (Vec::new(), Vec::new());
        let mut given = Vec::with_capacity(rows);
        for row in 0..rows {
            let set = sets.row(row, &mut scratch).filter(|set| !set.is_empty());
            given.push(set.is_some());
            if let Some(set) = set {
                family.append_minhashes(set, &mut smallest, &mut minhashes);
            }
        }
        let offsets = OffsetBuffer::from_lengths(given.iter().map(|&given| if given { k } else { 0 }));
        let nulls = Some(NullBuffer::from(given));
        let lists = ListArray::try_new(minhash_item(), offsets, Arc::new(UInt32Array::from(minhashes)), nulls)?;
        Ok(ColumnarValue::Array(Arc::new(lists)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The number of hash functions that are computed together: as many as fit into registers.
const TILE: usize = 8;

/// The number of elements that are processed together: as many as fit into the first-level cache with their
/// intermediate results.
const BLOCK: usize = 512;

/// Hash functions of the form a · x + b, of which the upper half of the result is kept.
struct Family {
    k: usize,
    functions: Vec<([u64; TILE], [u64; TILE])>,
}

impl Family {
    fn new(k: usize, seed: u64) -> Self {
        let tile = |first: usize| {
            let number = |i: usize| split_mix(seed, i as u64);
            let a = from_fn(|i| number(2 * (first + i)) | 1);
            (a, from_fn(|i| number(2 * (first + i) + 1)))
        };
        Self { k, functions: (0..k).step_by(TILE).map(tile).collect() }
    }

    /// Appends the minhashes of a set that is not empty; `smallest` is a reusable buffer.
    fn append_minhashes(&self, set: &[u64], smallest: &mut Vec<[u64; TILE]>, minhashes: &mut Vec<u32>) {
        // The whole hash is compared: the upper half of the smallest is the smallest upper half.
        smallest.clear();
        smallest.resize(self.functions.len(), [u64::MAX; TILE]);
        let mut mixed = [0; BLOCK];
        for block in set.chunks(BLOCK) {
            let mixed = &mut mixed[..block.len()];
            for (mixed, &element) in mixed.iter_mut().zip(block) {
                *mixed = split_mix(element, 0);
            }
            for ((a, b), smallest) in self.functions.iter().zip(smallest.iter_mut()) {
                let mut tile = *smallest;
                for &x in &*mixed {
                    for i in 0..TILE {
                        tile[i] = tile[i].min(a[i].wrapping_mul(x).wrapping_add(b[i]));
                    }
                }
                *smallest = tile;
            }
        }
        minhashes.extend(smallest.as_flattened().iter().take(self.k).map(|hash| (hash >> 32) as u32));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn minhashes(set: &[u64], k: usize, seed: u64) -> Vec<u32> {
        let mut minhashes = Vec::new();
        Family::new(k, seed).append_minhashes(set, &mut Vec::new(), &mut minhashes);
        minhashes
    }

    /// Computes the definition, one function and one element after the other.
    fn one_by_one(set: &[u64], k: usize, seed: u64) -> Vec<u32> {
        let hash = |i: u64, x: u64| {
            (split_mix(seed, 2 * i) | 1).wrapping_mul(split_mix(x, 0)).wrapping_add(split_mix(seed, 2 * i + 1)) >> 32
        };
        (0..k as u64).map(|i| set.iter().map(|&x| u32::try_from(hash(i, x)).unwrap()).min().unwrap()).collect()
    }

    #[test]
    fn minhashes_stay_the_same() {
        assert_eq!(minhashes(&[1, 2, 3], 4, 0), [2_103_070_037, 1_490_344_945, 1_902_622_352, 480_362_213]);
        assert_eq!(minhashes(&[0], 2, 0), [44_666_231, 671_823_584]);
        assert_eq!(minhashes(&[u64::MAX], 2, 42), [1_394_647_301, 461_087_156]);
    }

    /// Returns the mean error and the mean absolute error of the estimate over `seeds` for two sets of consecutive
    /// elements out of `1000`, which have half of all in common.
    fn errors(k: usize, seeds: u64) -> (f64, f64) {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..750).collect(), (250..1000).collect());
        let errors: Vec<f64> = (0..seeds)
            .map(|seed| {
                let (a, b) = (minhashes(&a, k, seed), minhashes(&b, k, seed));
                let equal = a.iter().zip(&b).filter(|(a, b)| a == b).count();
                f64::from(u32::try_from(equal).unwrap()) / f64::from(u32::try_from(k).unwrap()) - 0.5
            })
            .collect();
        let mean = |of: &dyn Fn(f64) -> f64| errors.iter().map(|e| of(*e)).sum::<f64>() / errors.len() as f64;
        (mean(&|e| e), mean(&f64::abs))
    }

    #[test]
    fn neighbouring_integers_do_not_bias_the_estimate() {
        let (bias, absolute) = errors(128, 400);
        // The standard error of the estimate is √(½ · ½ / 128) = .044, and its mean absolute error is √(2 / π) times
        // that, .035.
        assert!(bias.abs() < 0.0066, "{bias}");
        assert!((0.031..0.039).contains(&absolute), "{absolute}");
    }

    proptest! {
        #[test]
        fn it_is_the_definition(
            set in prop::collection::btree_set(prop_oneof![any::<u64>(), 0..100_u64], 1..1200),
            k in 1_usize..40,
            seed in any::<u64>(),
        ) {
            let set: Vec<u64> = set.into_iter().collect();
            let ours = minhashes(&set, k, seed);
            prop_assert_eq!(&ours, &one_by_one(&set, k, seed));
            prop_assert_eq!(&ours[..k.div_ceil(2)], minhashes(&set, k.div_ceil(2), seed));
        }

        #[test]
        fn of_a_union_it_is_the_smaller(
            a in prop::collection::vec(any::<u64>(), 1..50),
            b in prop::collection::vec(any::<u64>(), 1..50),
        ) {
            let smaller: Vec<u32> =
                minhashes(&a, 20, 3).into_iter().zip(minhashes(&b, 20, 3)).map(|(a, b)| a.min(b)).collect();
            prop_assert_eq!(minhashes(&[a, b].concat(), 20, 3), smaller);
        }
    }
}
