use datafusion_expr::Documentation;
use datafusion_macros::user_doc;

use super::Measure;
use super::set_similarity::SetSimilarity;

/// `dice(a, b)`: shared elements by the mean size.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The Dice coefficient of two sets: 2 |a ∩ b| / (|a| + |b|).\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or both are empty. In a join condition \
                   `dice(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "dice(a, b)",
    sql_example = r#"```sql
> SELECT dice([1, 2, 3], [2, 3, 4, 5]) AS dice;
+--------------------+
| dice               |
+--------------------+
| 0.5714285714285714 |
+--------------------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
struct Dice;

pub(super) fn dice() -> SetSimilarity {
    SetSimilarity::new(Measure::Dice, ["array_dice", "list_dice"])
}

pub(super) fn documentation() -> Option<&'static Documentation> {
    const FUNCTION: &Dice = &Dice;
    FUNCTION.doc()
}
