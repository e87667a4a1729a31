use datafusion_expr::Documentation;
use datafusion_macros::user_doc;

use super::Measure;
use super::set_similarity::SetSimilarity;

/// `cosine(a, b)`: shared elements by the geometric mean of the sizes.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The cosine similarity of two sets, each seen as a vector of ones: |a ∩ b| / √(|a| |b|).\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or either is empty. In a join condition \
                   `cosine(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "cosine(a, b)",
    sql_example = r#"```sql
> SELECT cosine([1, 2, 3], [2, 3, 4, 5]) AS cosine;
+--------------------+
| cosine             |
+--------------------+
| 0.5773502691896258 |
+--------------------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
struct Cosine;

pub(super) fn cosine() -> SetSimilarity {
    SetSimilarity::new(Measure::Cosine, ["array_cosine", "list_cosine"])
}

pub(super) fn documentation() -> Option<&'static Documentation> {
    const FUNCTION: &Cosine = &Cosine;
    FUNCTION.doc()
}
