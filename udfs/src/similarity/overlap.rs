use datafusion_expr::Documentation;
use datafusion_macros::user_doc;

use super::Measure;
use super::set_similarity::SetSimilarity;

/// `overlap(a, b)`: the number of shared elements.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The number of elements that two sets share: |a ∩ b|.\n\n\
                   Returns Int64; NULL where either set is NULL. In a join condition `overlap(a.set, b.set) >= c` is \
                   planned as a similarity join.",
    syntax_example = "overlap(a, b)",
    sql_example = r#"```sql
> SELECT overlap([1, 2, 3], [2, 3, 4, 5]) AS overlap;
+---------+
| overlap |
+---------+
| 2       |
+---------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
struct Overlap;

pub(super) fn overlap() -> SetSimilarity {
    SetSimilarity::new(Measure::Overlap, ["array_overlap_count", "list_overlap_count"])
}

pub(super) fn documentation() -> Option<&'static Documentation> {
    const FUNCTION: &Overlap = &Overlap;
    FUNCTION.doc()
}
