//! `star_clusters(a, b, similarity, cohesion)`: an aggregate over similar pairs.

use std::mem::{size_of, size_of_val};
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, Int64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::one_list;

/// `star_clusters(a, b, similarity, cohesion)`: clusters whose members are all similar to one of them.
#[user_doc(
    doc_section(label = "Clusters"),
    description = "Clusters in which every member has a similarity of at least `cohesion` with the representative. \
                   `connected_components` does not guarantee this: there, a long chain of small changes can join \
                   dissimilar members. The rows are pairs with their similarities; the members of a pair at `cohesion` \
                   or above are neighbours. The member with the most neighbours (of several, the smallest) becomes a \
                   representative, then the next one that is not a neighbour of a representative, and so on. Then each \
                   member joins the representative that it is most similar to; of several, the one with the most \
                   neighbours (star clustering; Aslam, Pelekhov, Rus 2004).\n\n\
                   Returns `List<Struct<member Int64, representative Int64, similarity Float64>>`, ascending by \
                   `member`, with every member once; a representative has itself as its representative, with \
                   similarity 1. A member without a neighbour is a cluster of one. Pairs have no direction; a repeated \
                   pair counts with its highest similarity; a pair with a NULL is left out. Without pairs, the list is \
                   empty. The order of the rows makes no difference.\n\n\
                   Holds 24 bytes for each pair at `cohesion` or above and 48 for each below, and as much again while \
                   it computes the result.",
    syntax_example = "star_clusters(a, b, similarity, cohesion)",
    sql_example = r#"```sql
> SELECT c['member'] AS member, c['representative'] AS representative, c['similarity'] AS similarity
  FROM (SELECT unnest(star_clusters(a, b, s, 0.7)) AS c FROM (VALUES (1, 2, 0.9), (2, 3, 0.8), (3, 4, 0.8)) AS t(a, b, s));
+--------+----------------+------------+
| member | representative | similarity |
+--------+----------------+------------+
| 1      | 2              | 0.9        |
| 2      | 2              | 1.0        |
| 3      | 2              | 0.8        |
| 4      | 4              | 1.0        |
+--------+----------------+------------+
```"#,
    argument(name = "a", description = "One member of the pair, `Int64`."),
    argument(name = "b", description = "The other member, `Int64`."),
    argument(name = "similarity", description = "The similarity of the two, `Float64`."),
    argument(
        name = "cohesion",
        description = "The least similarity of a member and its representative, `Float64`; the same in all rows. \
                       An error if it is NULL or NaN."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct StarClusters {
    signature: Signature,
}

impl Default for StarClusters {
    fn default() -> Self {
        let arguments = vec![DataType::Int64, DataType::Int64, DataType::Float64, DataType::Float64];
        Self { signature: Signature::exact(arguments, Volatility::Immutable) }
    }
}

static STARS: LazyLock<Fields> = LazyLock::new(|| {
    vec![
        Field::new("member", DataType::Int64, false),
        Field::new("representative", DataType::Int64, false),
        Field::new("similarity", DataType::Float64, false),
    ]
    .into()
});

fn stars_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(STARS.clone()), true)))
}

/// Returns a list of rows of two numbers and a similarity.
fn list(rows: &[(i64, i64, f64)]) -> Result<ScalarValue> {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.2))),
    ];
    one_list(Arc::new(StructArray::try_new(STARS.clone(), columns, None)?))
}

impl AggregateUDFImpl for StarClusters {
    fn name(&self) -> &str {
        "star_clusters"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        let [_, _, _, _] = take_function_args(self.name(), given)?;
        Ok(stars_type())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Stars::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        // The pairs have the columns of the result, so the state has the type of the result.
        Ok(vec![Arc::new(Field::new(args.name, stars_type(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The pairs of a group.
#[derive(Debug, Default)]
struct Stars {
    /// The pairs, the smaller member first. A pair of a member and itself keeps a member that may have no neighbour.
    pairs: Vec<(i64, i64, f64)>,
}

impl Stars {
    fn add(&mut self, a: i64, b: i64, similarity: f64, cohesion: f64) {
        if similarity >= cohesion && a != b {
            self.pairs.push((a.min(b), a.max(b), similarity));
        } else {
            self.pairs.extend([(a, a, 1.0), (b, b, 1.0)]);
        }
    }
}

impl Accumulator for Stars {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (a, b) = (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
        let (similarity, cohesion) = (values[2].as_primitive::<Float64Type>(), values[3].as_primitive::<Float64Type>());
        for row in 0..a.len() {
            if cohesion.is_null(row) || cohesion.value(row).is_nan() {
                return exec_err!("star_clusters: the cohesion is a number, got NULL or NaN");
            }
            if a.is_valid(row) && b.is_valid(row) && similarity.is_valid(row) {
                self.add(a.value(row), b.value(row), similarity.value(row), cohesion.value(row));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        list(&stars(&mut self.pairs)?)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.pairs.capacity() * size_of::<(i64, i64, f64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        once_each(&mut self.pairs);
        Ok(vec![list(&self.pairs)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_list::<i32>();
        for row in (0..states.len()).filter(|&row| states.is_valid(row)) {
            let pairs = states.value(row);
            let pairs = pairs.as_struct();
            let members = |i: usize| pairs.column(i).as_primitive::<Int64Type>().values().iter().copied();
            let similarities = pairs.column(2).as_primitive::<Float64Type>().values().iter().copied();
            self.pairs.extend(members(0).zip(members(1)).zip(similarities).map(|((a, b), s)| (a, b, s)));
        }
        Ok(())
    }
}

/// Sorts the pairs and keeps each once, with its highest similarity.
fn once_each(pairs: &mut Vec<(i64, i64, f64)>) {
    pairs.sort_unstable_by(|x, y| (x.0, x.1).cmp(&(y.0, y.1)).then(y.2.total_cmp(&x.2)));
    pairs.dedup_by_key(|pair| (pair.0, pair.1));
}

/// Returns each member with its representative and their similarity.
fn stars(pairs: &mut Vec<(i64, i64, f64)>) -> Result<Vec<(i64, i64, f64)>> {
    once_each(pairs);
    let mut members: Vec<i64> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
    members.sort_unstable();
    members.dedup();
    if members.len() > i32::MAX.unsigned_abs() as usize {
        return exec_err!("star_clusters: there are {} members, more than a list can hold", members.len());
    }
    let place = |member: i64| members.partition_point(|other| *other < member);
    // The pairs in both directions, by member.
    let mut neighbours: Vec<(usize, usize, f64)> = Vec::with_capacity(2 * pairs.len());
    for &(a, b, similarity) in pairs.iter().filter(|pair| pair.0 != pair.1) {
        let (a, b) = (place(a), place(b));
        neighbours.extend([(a, b, similarity), (b, a, similarity)]);
    }
    neighbours.sort_unstable_by_key(|neighbour| (neighbour.0, neighbour.1));
    let mut starts = vec![0; members.len() + 1];
    neighbours.iter().for_each(|neighbour| starts[neighbour.0 + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    let of = |member: usize| &neighbours[starts[member]..starts[member + 1]];

    // The sort is stable: of members with equally many neighbours the smallest comes first.
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&member| std::cmp::Reverse(of(member).len()));
    let mut settled = vec![false; members.len()];
    let mut best: Vec<Option<(usize, f64)>> = vec![None; members.len()];
    for member in order {
        if std::mem::replace(&mut settled[member], true) {
            continue;
        }
        best[member] = Some((member, f64::INFINITY));
        for &(_, neighbour, similarity) in of(member) {
            settled[neighbour] = true;
            if best[neighbour].is_none_or(|(_, other)| similarity > other) {
                best[neighbour] = Some((member, similarity));
            }
        }
    }
    let stars = best.into_iter().enumerate().filter_map(|(member, best)| {
        best.map(|(representative, similarity)| (members[member], members[representative], similarity.min(1.0)))
    });
    Ok(stars.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(pairs: &[(i64, i64, f64)], cohesion: f64) -> Vec<(i64, i64, f64)> {
        let mut made = Stars::default();
        pairs.iter().for_each(|&(a, b, similarity)| made.add(a, b, similarity, cohesion));
        stars(&mut made.pairs).unwrap()
    }

    #[test]
    fn a_chain_is_cut() {
        let chain: Vec<_> = (0..9).map(|i| (i, i + 1, 0.9)).collect();
        let found = of(&chain, 0.8);
        let representatives: Vec<i64> = found.iter().map(|star| star.1).collect();
        assert_eq!(representatives, [1, 1, 1, 3, 3, 5, 5, 7, 7, 9]);
    }

    #[test]
    fn a_member_goes_to_the_most_similar_representative() {
        // 5 is the centre of five, 1 the centre of three; 9 is a neighbour of both.
        let pairs = [(5, 6, 0.8), (5, 7, 0.8), (5, 8, 0.8), (5, 9, 0.8), (1, 2, 0.9), (1, 3, 0.9), (1, 9, 0.9)];
        let found = of(&pairs, 0.7);
        assert!(found.contains(&(9, 1, 0.9)) && found.contains(&(6, 5, 0.8)), "{found:?}");
    }

    #[test]
    fn what_is_not_similar_enough_is_alone() {
        assert_eq!(of(&[(1, 2, 0.5), (3, 3, 1.0)], 0.7), [(1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0)]);
        assert_eq!(of(&[], 0.7), []);
    }

    proptest! {
        #[test]
        fn every_member_is_similar_to_its_representative(
            pairs in proptest::collection::vec((0_i64..12, 0_i64..12, 0_u8..=10), 0..40), cohesion in 0_u8..=10
        ) {
            let pairs: Vec<_> = pairs.into_iter().map(|(a, b, s)| (a, b, f64::from(s) / 10.0)).collect();
            let cohesion = f64::from(cohesion) / 10.0;
            let found = of(&pairs, cohesion);
            let mut members: Vec<_> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
            members.sort_unstable();
            members.dedup();
            prop_assert_eq!(found.iter().map(|star| star.0).collect::<Vec<_>>(), members);
            for &(member, representative, similarity) in &found {
                let linked = pairs.iter().filter(|&&(a, b, _)| (a, b) == (member, representative) || (b, a) == (member, representative));
                let most = linked.map(|pair| pair.2).fold(0.0, f64::max);
                prop_assert!(member == representative || (most == similarity && similarity >= cohesion));
                prop_assert!(found.contains(&(representative, representative, 1.0)));
            }
            // Any order and any division gives the same.
            let mut parts = [Stars::default(), Stars::default(), Stars::default()];
            for (i, &(a, b, similarity)) in pairs.iter().rev().enumerate() {
                parts[i % 3].add(b, a, similarity, cohesion);
            }
            let mut whole = Stars::default();
            for part in &mut parts {
                let state = part.state().unwrap().remove(0).to_array().unwrap();
                whole.merge_batch(&[state]).unwrap();
            }
            prop_assert_eq!(stars(&mut whole.pairs).unwrap(), found);
        }
    }
}
