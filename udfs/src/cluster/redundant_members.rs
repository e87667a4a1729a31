//! `redundant_members(member, other)`: an aggregate over pairs of a member and another member that can replace it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::{size_of, size_of_val};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::one_list;

/// `redundant_members(member, other)`: the members that can be removed, so that for each of them a replacement stays.
#[user_doc(
    doc_section(label = "Clusters"),
    description = "The members that can be removed, because for each of them a replacement stays. A row says that \
                   `other` can replace `member`: that it is a duplicate, or contains it. Members are decided one after \
                   the other, the smallest number first: a member is removed if a member that stays can replace it, \
                   and stays otherwise. So each removed member has a direct replacement that stays, not one over a \
                   chain, and no member that stays can replace another one that stays. If `other` can replace `member` \
                   and not the other way round, `other` is decided before `member`, whatever its number.\n\n\
                   If all rows go both ways, the members that stay are the lexicographically first maximal independent \
                   set of the graph (Luby 1986), which a greedy pass in the order of the numbers finds.\n\n\
                   Returns `List<Int64>`: the removed members, ascending. A repeated row counts once; a row with a \
                   NULL, or of a member and itself, is left out. Without rows, the list is empty. A circle of rows \
                   that go only one way is an error, since no member of it can be decided first. The order of the rows \
                   makes no difference.\n\n\
                   Holds 16 bytes for each row, and about 24 more while it computes the result.",
    syntax_example = "redundant_members(member, other)",
    sql_example = r#"```sql
> SELECT redundant_members(a, b) AS alike FROM (VALUES (1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)) AS t(a, b);
+--------+
| alike  |
+--------+
| [2, 4] |
+--------+
```"#,
    argument(
        name = "member",
        description = "The member that can be removed, `Int64`: a smaller number is decided first."
    ),
    argument(name = "other", description = "The member that can replace it, `Int64`.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct RedundantMembers {
    signature: Signature,
}

impl Default for RedundantMembers {
    fn default() -> Self {
        Self { signature: Signature::exact(vec![DataType::Int64, DataType::Int64], Volatility::Immutable) }
    }
}

/// Returns the type of the rows in the accumulator's state.
fn state_type() -> DataType {
    let fields: Fields = ["member", "other"].map(|name| Field::new(name, DataType::Int64, false)).to_vec().into();
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields), true)))
}

impl AggregateUDFImpl for RedundantMembers {
    fn name(&self) -> &str {
        "redundant_members"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        let [_, _] = take_function_args(self.name(), given)?;
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))))
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Rows::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, state_type(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The rows of a group: a member, and another that can replace it.
#[derive(Debug, Default)]
struct Rows(Vec<(i64, i64)>);

impl Rows {
    fn add(&mut self, member: i64, other: i64) {
        if member != other {
            self.0.push((member, other));
        }
    }
}

impl Accumulator for Rows {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (members, others) = (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
        for (member, other) in members.iter().zip(others) {
            if let (Some(member), Some(other)) = (member, other) {
                self.add(member, other);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        one_list(Arc::new(Int64Array::from(redundant(&mut self.0)?)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.0.capacity() * size_of::<(i64, i64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        once_each(&mut self.0);
        let DataType::List(item) = state_type() else { return exec_err!("redundant_members: its rows are no list") };
        let DataType::Struct(fields) = item.data_type() else {
            return exec_err!("redundant_members: its rows are no rows");
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.0.iter().map(|row| row.0).collect::<Int64Array>()),
            Arc::new(self.0.iter().map(|row| row.1).collect::<Int64Array>()),
        ];
        Ok(vec![one_list(Arc::new(StructArray::try_new(fields.clone(), columns, None)?))?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_list::<i32>();
        for row in (0..states.len()).filter(|&row| states.is_valid(row)) {
            let rows = states.value(row);
            let column = |i: usize| rows.as_struct().column(i).as_primitive::<Int64Type>().values().iter().copied();
            self.0.extend(column(0).zip(column(1)));
        }
        Ok(())
    }
}

/// Sorts the rows and removes repeated ones.
fn once_each(rows: &mut Vec<(i64, i64)>) {
    rows.sort_unstable();
    rows.dedup();
}

/// Returns the members to remove, ascending.
fn redundant(rows: &mut Vec<(i64, i64)>) -> Result<Vec<i64>> {
    once_each(rows);
    let mut members: Vec<i64> = rows.iter().flat_map(|row| [row.0, row.1]).collect();
    members.sort_unstable();
    members.dedup();
    if u32::try_from(rows.len()).is_err() || i32::try_from(members.len()).is_err() {
        return exec_err!(
            "redundant_members: {} rows of {} members are more than it can hold",
            rows.len(),
            members.len()
        );
    }
    let place = |member: i64| members.partition_point(|other| *other < member);
    let others: Vec<usize> = rows.iter().map(|row| place(row.1)).collect();
    let starts: Vec<usize> = members.iter().map(|member| rows.partition_point(|row| row.0 < *member)).collect();
    let of = |member: usize| -> Range<usize> { starts[member]..starts.get(member + 1).copied().unwrap_or(rows.len()) };
    let goes_back = |member: usize, other: usize| others[of(other)].binary_search(&member).is_ok();

    // The pairs of a member and one that waits for it, and the number of members that each waits for.
    let mut waiting_for: Vec<(usize, usize)> = Vec::new();
    let mut waits = vec![0_usize; members.len()];
    for member in 0..members.len() {
        for &other in others[of(member)].iter().filter(|other| !goes_back(member, **other)) {
            waiting_for.push((other, member));
            waits[member] += 1;
        }
    }
    waiting_for.sort_unstable();

    let mut ready: BinaryHeap<_> = (0..members.len()).filter(|member| waits[*member] == 0).map(Reverse).collect();
    let mut stays = vec![false; members.len()];
    let (mut going, mut decided) = (Vec::new(), 0);
    while let Some(Reverse(member)) = ready.pop() {
        decided += 1;
        stays[member] = !others[of(member)].iter().any(|other| stays[*other]);
        if !stays[member] {
            going.push(members[member]);
        }
        let first = waiting_for.partition_point(|waiting| waiting.0 < member);
        for &(_, waiting) in waiting_for[first..].iter().take_while(|waiting| waiting.0 == member) {
            waits[waiting] -= 1;
            if waits[waiting] == 0 {
                ready.push(Reverse(waiting));
            }
        }
    }
    if decided < members.len() {
        return exec_err!(
            "redundant_members: rows that go only one way lead in a circle, so that none of {} members can be decided \
             first",
            members.len() - decided
        );
    }
    going.sort_unstable();
    Ok(going)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn of(rows: &[(i64, i64)]) -> Vec<i64> {
        let mut made = Rows::default();
        rows.iter().for_each(|&(member, other)| made.add(member, other));
        redundant(&mut made.0).unwrap()
    }

    fn both_ways(pairs: &[(i64, i64)]) -> Vec<(i64, i64)> {
        pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect()
    }

    #[test]
    fn every_second_of_a_chain_goes() {
        let chain: Vec<_> = (0..9).map(|i| (i, i + 1)).collect();
        assert_eq!(of(&both_ways(&chain)), [1, 3, 5, 7, 9]);
    }

    #[test]
    fn what_contains_another_is_decided_first() {
        // 1 is in 2, 2 in 3, and 1 not in 3: 2 goes, and 1 stays.
        assert_eq!(of(&[(1, 2), (2, 3)]), [2]);
        assert_eq!(of(&[(1, 2), (2, 3), (1, 3)]), [1, 2]);
        // If two contain each other, the first stays.
        assert_eq!(of(&[(1, 2), (2, 1), (1, 1)]), [2]);
        assert_eq!(of(&[]), [0_i64; 0]);
    }

    #[test]
    fn a_circle_is_an_error() {
        let error = redundant(&mut vec![(1, 2), (2, 3), (3, 1)]).unwrap_err().to_string();
        assert!(error.contains("lead in a circle"), "{error}");
    }

    proptest! {
        /// Members are sets. A member can be removed if the greater part of it is in another.
        #[test]
        fn each_that_goes_has_one_that_stays_and_of_these_none_can_go(
            sets in proptest::collection::vec(proptest::collection::btree_set(0_u8..12, 1..8), 2..14), parts in 1_usize..4
        ) {
            let share = |a: &BTreeSet<u8>, b: &BTreeSet<u8>| a.intersection(b).count() * 10 >= a.len() * 7;
            let numbered = || sets.iter().enumerate().map(|(i, set)| (i64::try_from(i).unwrap(), set));
            let rows: Vec<_> = numbered()
                .flat_map(|(i, a)| numbered().filter(move |(j, b)| i != *j && share(a, b)).map(move |(j, _)| (i, j)))
                .collect();
            let going = of(&rows);
            let stays = |member: i64| going.binary_search(&member).is_err();
            let mut can_go: BTreeMap<i64, bool> = BTreeMap::new();
            for &(member, other) in &rows {
                *can_go.entry(member).or_default() |= stays(other);
            }
            for (member, can_go) in can_go {
                prop_assert_eq!(can_go, !stays(member), "{}", member);
            }
            let mut whole = Rows::default();
            for part in 0..parts {
                let mut one = Rows::default();
                rows.iter().rev().skip(part).step_by(parts).for_each(|&(member, other)| one.add(member, other));
                whole.merge_batch(&[one.state().unwrap().remove(0).to_array().unwrap()]).unwrap();
            }
            prop_assert_eq!(redundant(&mut whole.0).unwrap(), going);
        }

        #[test]
        fn of_rows_both_ways_a_greedy_pass_is_the_answer(pairs in proptest::collection::vec((0_i64..15, 0_i64..15), 0..40)) {
            let rows = both_ways(&pairs);
            let mut kept: Vec<i64> = Vec::new();
            let mut going = Vec::new();
            for member in 0..15 {
                if kept.iter().any(|other| rows.contains(&(member, *other))) { going.push(member) } else { kept.push(member) }
            }
            prop_assert_eq!(of(&rows), going);
        }
    }
}
