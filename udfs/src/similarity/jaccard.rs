use datafusion_expr::Documentation;
use datafusion_macros::user_doc;

use super::Measure;
use super::set_similarity::SetSimilarity;

/// `jaccard(a, b)`: shared elements by all elements.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The Jaccard similarity of two sets: |a ∩ b| / |a ∪ b|.\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or both are empty. In a join condition \
                   `jaccard(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "jaccard(a, b)",
    sql_example = r#"```sql
> SELECT jaccard([1, 2, 3], [2, 3, 4, 5]) AS jaccard;
+---------+
| jaccard |
+---------+
| 0.4     |
+---------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
struct Jaccard;

pub(super) fn jaccard() -> SetSimilarity {
    SetSimilarity::new(Measure::Jaccard, ["array_jaccard", "list_jaccard"])
}

pub(super) fn documentation() -> Option<&'static Documentation> {
    const FUNCTION: &Jaccard = &Jaccard;
    FUNCTION.doc()
}
