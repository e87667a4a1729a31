//! `connected_components(a, b)`: an aggregate over the edges of a graph.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, StringViewArray, StructArray, UInt32Array,
};
use arrow::compute::{sort_to_indices, take};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type, UInt64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_err, internal_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use petgraph::unionfind::UnionFind;

use crate::arguments::{is_text, one_list};

/// `connected_components(a, b)`: the connected components of a graph.
#[user_doc(
    doc_section(label = "Clusters"),
    description = "The connected components of the graph whose edges are the rows: two members are in one cluster if a \
                   chain of edges leads from one to the other, however long it is (WIKI-LSH section 5). So two members \
                   of a cluster need not be similar: only neighbours are.\n\n\
                   Returns `List<Struct<member, cluster_id>>`, ascending by `member`, with every member once. \
                   `cluster_id` is the smallest member of the cluster; for text, the first in byte order, which is the \
                   order of code points. Both are Int64 for integers, UInt64 if an argument is UInt64, and Utf8View \
                   for text. Edges have no direction, and a repeated edge counts once. An edge from a member to itself \
                   makes a cluster of one, if the member has no other edge. An edge with a NULL is left out and adds \
                   no member. Without edges, the list is empty. The order of the rows makes no difference.\n\n\
                   Holds about 20 to 40 bytes in memory for each distinct member, plus the text of text members, \
                   whatever the number of edges, and about 40 bytes more for each while it computes the result. More \
                   than 2,147,483,647 members in a group are an error. The algorithm is union-find (Tarjan 1975; the \
                   implementation of petgraph, by rank and with path halving), so the time grows with the edges. As a \
                   window function, it takes frames that begin with the partition.",
    syntax_example = "connected_components(a, b)",
    sql_example = r#"```sql
> SELECT c['member'] AS member, c['cluster_id'] AS cluster_id
  FROM (SELECT unnest(connected_components(a, b)) AS c FROM (VALUES (7, 3), (9, 7), (5, 4)) AS edges(a, b));
+--------+------------+
| member | cluster_id |
+--------+------------+
| 3      | 3          |
| 4      | 4          |
| 5      | 4          |
| 7      | 3          |
| 9      | 3          |
+--------+------------+
```"#,
    argument(name = "a", description = "One end of the edge: an integer, or text, of any width."),
    argument(name = "b", description = "The other end, of the same kind.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ConnectedComponents {
    signature: Signature,
}

impl Default for ConnectedComponents {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// Returns the fields of a member and of its cluster.
fn fields(member: &DataType) -> Fields {
    ["member", "cluster_id"].map(|name| Field::new(name, member.clone(), false)).to_vec().into()
}

impl AggregateUDFImpl for ConnectedComponents {
    fn name(&self) -> &str {
        "connected_components"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b] = take_function_args(self.name(), given)?;
        let both = |is: fn(&DataType) -> bool| is(a) && is(b);
        let member = if both(|end| end.is_integer() || end.is_null()) {
            if [a, b].contains(&&DataType::UInt64) { DataType::UInt64 } else { DataType::Int64 }
        } else if both(is_text) {
            DataType::Utf8View
        } else {
            return plan_err!("connected_components expects two integers or two texts, got {a} and {b}");
        };
        Ok(vec![member.clone(), member])
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        let [member, _] = take_function_args(self.name(), given)?;
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields(member)), true))))
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match args.expr_fields.first().map(|field| field.data_type()) {
            Some(DataType::Int64) => Ok(Box::new(Components::<Numbers<Int64Type>>::default())),
            Some(DataType::UInt64) => Ok(Box::new(Components::<Numbers<UInt64Type>>::default())),
            Some(DataType::Utf8View) => Ok(Box::new(Components::<Texts>::default())),
            other => internal_err!("connected_components of {other:?}"),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, args.return_field.data_type().clone(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Members in the order in which they came.
trait Members: Default + Debug + Send + Sync + 'static {
    /// A column of members.
    type Column: Array + 'static;
    /// A member.
    type Member<'a>: Copy + Hash;

    fn of(column: &Self::Column, row: usize) -> Self::Member<'_>;
    fn len(&self) -> usize;
    fn get(&self, position: u32) -> Self::Member<'_>;
    fn is(&self, position: u32, member: Self::Member<'_>) -> bool;
    fn push(&mut self, member: Self::Member<'_>);
    fn to_array(&self) -> ArrayRef;
    /// Returns the bytes of memory that the members hold.
    fn bytes(&self) -> usize;
}

/// Members that are integers.
#[derive(Debug)]
struct Numbers<T: ArrowPrimitiveType>(Vec<T::Native>);

impl<T: ArrowPrimitiveType> Default for Numbers<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: ArrowPrimitiveType<Native: Hash> + Debug> Members for Numbers<T> {
    type Column = PrimitiveArray<T>;
    type Member<'a> = T::Native;

    fn of(column: &PrimitiveArray<T>, row: usize) -> T::Native {
        column.value(row)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, position: u32) -> T::Native {
        self.0[position as usize]
    }

    fn is(&self, position: u32, member: T::Native) -> bool {
        self.0[position as usize] == member
    }

    fn push(&mut self, member: T::Native) {
        self.0.push(member);
    }

    fn to_array(&self) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter_values(self.0.iter().copied()))
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<T::Native>()
    }
}

/// Members that are texts, one after the other.
#[derive(Debug, Default)]
struct Texts {
    text: String,
    /// The end of each member in `text`.
    ends: Vec<usize>,
}

impl Members for Texts {
    type Column = StringViewArray;
    type Member<'a> = &'a str;

    fn of(column: &StringViewArray, row: usize) -> &str {
        column.value(row)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, position: u32) -> &str {
        let position = position as usize;
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.text[start..self.ends[position]]
    }

    fn is(&self, position: u32, member: &str) -> bool {
        self.get(position) == member
    }

    fn push(&mut self, member: &str) {
        self.text.push_str(member);
        self.ends.push(self.text.len());
    }

    fn to_array(&self) -> ArrayRef {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let texts = starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end]);
        Arc::new(StringViewArray::from_iter_values(texts))
    }

    fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

/// The graph of one group: its members, and the sets of connected members.
#[derive(Debug)]
struct Components<M> {
    members: M,
    /// The position of each member in `members`.
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The connected sets of positions.
    sets: UnionFind<u32>,
    /// The most members that there may be, which is the capacity of a list.
    most: usize,
}

impl<M: Members> Default for Components<M> {
    fn default() -> Self {
        Self {
            members: M::default(),
            positions: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            sets: UnionFind::new_empty(),
            most: i32::MAX.unsigned_abs() as usize,
        }
    }
}

impl<M: Members> Components<M> {
    /// Returns the position of a member, which is added if it is new.
    fn position(&mut self, member: M::Member<'_>) -> Result<u32> {
        let Self { members, positions, hasher, sets, most } = self;
        let is_member = |position: &u32| members.is(*position, member);
        let rehash = |position: &u32| hasher.hash_one(members.get(*position));
        match positions.entry(hasher.hash_one(member), is_member, rehash) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_) if members.len() >= *most => {
                exec_err!("connected_components: there are more than {most} members, which is what a list can hold")
            }
            Entry::Vacant(vacant) => {
                let position = sets.new_set();
                vacant.insert(position);
                members.push(member);
                Ok(position)
            }
        }
    }

    /// Joins the two ends of every edge that has both.
    fn join(&mut self, a: &ArrayRef, b: &ArrayRef) -> Result<()> {
        let (Some(a), Some(b)) = (a.as_any().downcast_ref::<M::Column>(), b.as_any().downcast_ref::<M::Column>())
        else {
            return internal_err!("connected_components of {} and {}", a.data_type(), b.data_type());
        };
        for row in (0..a.len()).filter(|&row| a.is_valid(row) && b.is_valid(row)) {
            let (a, b) = (self.position(M::of(a, row))?, self.position(M::of(b, row))?);
            self.sets.union(a, b);
        }
        Ok(())
    }

    /// Returns for each member the position of the representative of its set.
    fn representatives(&mut self) -> Vec<u32> {
        let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        (0..count).map(|position| self.sets.find_mut(position)).collect()
    }
}

/// Returns a list of members and their clusters.
fn list(members: ArrayRef, cluster_ids: ArrayRef) -> Result<ScalarValue> {
    let fields = fields(members.data_type());
    one_list(Arc::new(StructArray::try_new(fields, vec![members, cluster_ids], None)?))
}

impl<M: Members> Accumulator for Components<M> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.join(&values[0], &values[1])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let members = self.members.to_array();
        let order = sort_to_indices(&members, None, None)?;
        let representatives = self.representatives();
        // The first member of a set is the smallest one.
        let mut smallest = vec![u32::MAX; representatives.len()];
        let cluster_ids: Vec<u32> = order
            .values()
            .iter()
            .map(|&position| {
                let of_set = &mut smallest[representatives[position as usize] as usize];
                *of_set = if *of_set == u32::MAX { position } else { *of_set };
                *of_set
            })
            .collect();
        list(take(&members, &order, None)?, take(&members, &UInt32Array::from(cluster_ids), None)?)
    }

    fn size(&self) -> usize {
        size_of_val(self)
            + self.members.bytes()
            + self.positions.allocation_size()
            // A set has a parent and a rank.
            + self.sets.capacity() * (size_of::<u32>() + size_of::<u8>())
    }

    /// Returns each member with any member of its cluster: the smallest is not known until all rows are read.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let members = self.members.to_array();
        let representatives = take(&members, &UInt32Array::from(self.representatives()), None)?;
        Ok(vec![list(members, representatives)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_list::<i32>();
        for row in (0..states.len()).filter(|&row| states.is_valid(row)) {
            let edges = states.value(row);
            let edges = edges.as_struct();
            self.join(edges.column(0), edges.column(1))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, VecDeque};

    use arrow::array::{Int64Array, UInt64Array};
    use proptest::prelude::*;

    use super::*;

    type Numbered = Components<Numbers<Int64Type>>;

    /// Returns the members and their clusters in order, with no member twice.
    fn clusters<M: Members>(components: &mut Components<M>) -> ArrayRef {
        let value = components.evaluate().unwrap().to_array().unwrap();
        assert_eq!(value.data_type(), &return_type(M::default().to_array().data_type()));
        value.as_list::<i32>().value(0)
    }

    fn return_type(member: &DataType) -> DataType {
        ConnectedComponents::default().return_type(&[member.clone(), member.clone()]).unwrap()
    }

    fn numbers(components: &mut Numbered) -> Vec<(i64, i64)> {
        let clusters = clusters(components);
        let column = |i: usize| clusters.as_struct().column(i).as_primitive::<Int64Type>().values().to_vec();
        column(0).into_iter().zip(column(1)).collect()
    }

    fn texts(components: &mut Components<Texts>) -> Vec<(String, String)> {
        let clusters = clusters(components);
        let column = |i: usize| {
            let column = clusters.as_struct().column(i).as_string_view();
            column.iter().flatten().map(String::from).collect::<Vec<_>>()
        };
        column(0).into_iter().zip(column(1)).collect()
    }

    fn columns(edges: &[(i64, i64)]) -> [ArrayRef; 2] {
        let column = |of: fn(&(i64, i64)) -> i64| Arc::new(Int64Array::from_iter_values(edges.iter().map(of)));
        [column(|edge| edge.0), column(|edge| edge.1)]
    }

    fn of_edges(edges: &[(i64, i64)]) -> Numbered {
        let mut components = Components::default();
        components.update_batch(&columns(edges)).unwrap();
        components
    }

    /// Finds the smallest member that can be reached from each, by search.
    fn by_search(edges: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut neighbours: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for &(a, b) in edges {
            neighbours.entry(a).or_default().insert(b);
            neighbours.entry(b).or_default().insert(a);
        }
        let mut found = BTreeMap::new();
        while let Some((smallest, reached)) = neighbours.pop_first() {
            found.insert(smallest, smallest);
            let mut next = VecDeque::from_iter(reached);
            while let Some(member) = next.pop_front() {
                if let Some(reached) = neighbours.remove(&member) {
                    found.insert(member, smallest);
                    next.extend(reached);
                }
            }
        }
        found.into_iter().collect()
    }

    #[test]
    fn chains_hang_together_and_loops_stand_alone() {
        let mut components = of_edges(&[(5, 4), (7, 3), (9, 7), (8, 8), (i64::MIN, i64::MAX)]);
        let expected = [(i64::MIN, i64::MIN), (3, 3), (4, 4), (5, 4), (7, 3), (8, 8), (9, 3), (i64::MAX, i64::MIN)];
        assert_eq!(numbers(&mut components), expected);
        assert_eq!(numbers(&mut Components::default()), []);
    }

    #[test]
    fn edges_with_a_null_are_left_out() {
        let mut components = Numbered::default();
        let a = Int64Array::from(vec![Some(1), None, Some(3), None]);
        let b = Int64Array::from(vec![Some(2), Some(1), None, None]);
        components.update_batch(&[Arc::new(a), Arc::new(b)]).unwrap();
        assert_eq!(numbers(&mut components), [(1, 1), (2, 1)]);
    }

    #[test]
    fn texts_are_in_the_order_of_their_bytes() {
        let mut components = Components::<Texts>::default();
        let a = StringViewArray::from(vec![Some("a longer text than a view holds"), Some("我"), Some(""), None]);
        let b = StringViewArray::from(vec![Some("Z"), Some("é"), Some(""), Some("left out")]);
        components.update_batch(&[Arc::new(a), Arc::new(b)]).unwrap();
        let expected = [("", ""), ("Z", "Z"), ("a longer text than a view holds", "Z"), ("é", "é"), ("我", "é")];
        assert_eq!(texts(&mut components), expected.map(|(member, id)| (member.to_string(), id.to_string())));
    }

    #[test]
    fn numbers_above_those_with_a_sign_are_the_largest() {
        let mut components = Components::<Numbers<UInt64Type>>::default();
        let column = |values: Vec<u64>| Arc::new(UInt64Array::from(values)) as ArrayRef;
        components.update_batch(&[column(vec![u64::MAX, 1 << 63]), column(vec![5, 1 << 63])]).unwrap();
        let clusters = clusters(&mut components);
        assert_eq!(clusters.as_struct().column(0).as_primitive::<UInt64Type>().values(), &[5, 1 << 63, u64::MAX]);
        assert_eq!(clusters.as_struct().column(1).as_primitive::<UInt64Type>().values(), &[5, 1 << 63, 5]);
    }

    #[test]
    fn a_chain_of_a_million_is_one_cluster() {
        let edges: Vec<(i64, i64)> = (0..1_000_000).map(|i| (i + 1, i)).collect();
        assert!(numbers(&mut of_edges(&edges)).into_iter().eq((0..=1_000_000).map(|i| (i, 0))));
    }

    #[test]
    fn more_members_than_a_list_holds_are_an_error() {
        let mut components = Numbered { most: 3, ..Components::default() };
        components.update_batch(&columns(&[(1, 2), (2, 3), (3, 1)])).unwrap();
        let error = components.update_batch(&columns(&[(3, 4)])).unwrap_err().to_string();
        assert!(error.contains("more than 3 members"), "{error}");
    }

    #[test]
    fn memory_grows_with_the_members_and_not_with_the_edges() {
        let edges: Vec<(i64, i64)> = (0..100_000).map(|i| (i, i / 2)).collect();
        let mut components = Numbered::default();
        components.update_batch(&columns(&edges[..8192])).unwrap();
        let size = components.size();
        for _ in 0..20 {
            components.update_batch(&columns(&edges[..8192])).unwrap();
        }
        assert_eq!(components.size(), size);
        edges.chunks(8192).for_each(|edges| components.update_batch(&columns(edges)).unwrap());
        assert!((1_800_000..4_200_000).contains(&components.size()), "{}", components.size());
    }

    fn edges() -> impl Strategy<Value = Vec<(i64, i64)>> {
        prop_oneof![
            prop::collection::vec((-8..8_i64, -8..8_i64), 0..12),
            prop::collection::vec((0..200_i64, 0..200_i64), 0..150),
            prop::collection::vec((any::<i64>(), -3..3_i64), 0..20),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn it_is_what_a_search_finds(edges in edges()) {
            prop_assert_eq!(numbers(&mut of_edges(&edges)), by_search(&edges));
        }

        #[test]
        fn order_and_partitions_do_not_matter(
            edges in edges(),
            shuffled in edges().prop_flat_map(|edges| (Just(edges.clone()), Just(edges).prop_shuffle())),
            size in 1_usize..50,
        ) {
            // The partial groups are merged one after the other, some of them by way of another group.
            let mut merged = Components::default();
            let mut between = Numbered::default();
            for (i, edges) in edges.chunks(size).enumerate() {
                let state = of_edges(edges).state().unwrap()[0].to_array().unwrap();
                prop_assert_eq!(state.data_type(), &return_type(&DataType::Int64));
                if i % 3 == 0 { &mut between } else { &mut merged }.merge_batch(&[state]).unwrap();
            }
            merged.merge_batch(&[between.state().unwrap()[0].to_array().unwrap()]).unwrap();
            prop_assert_eq!(numbers(&mut merged), numbers(&mut of_edges(&edges)));
            prop_assert_eq!(numbers(&mut of_edges(&shuffled.0)), numbers(&mut of_edges(&shuffled.1)));
        }

        #[test]
        fn texts_make_the_same_clusters_as_numbers(edges in prop::collection::vec((10..99_i64, 10..99_i64), 0..60)) {
            let mut components = Components::<Texts>::default();
            let column = |of: fn(&(i64, i64)) -> i64| -> ArrayRef {
                Arc::new(StringViewArray::from_iter_values(edges.iter().map(|edge| of(edge).to_string())))
            };
            components.update_batch(&[column(|edge| edge.0), column(|edge| edge.1)]).unwrap();
            let expected = by_search(&edges).into_iter().map(|(member, id)| (member.to_string(), id.to_string()));
            prop_assert!(texts(&mut components).into_iter().eq(expected));
        }
    }
}
