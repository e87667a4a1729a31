//! Dutch.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const DUTCH: Language = Language {
    code: "nl",
    name: "Dutch",
    examples: &[
        ("Dhr. Jansen en mevr. Bakker komen. Zij wachten.", &["Dhr. Jansen en mevr. Bakker komen.", "Zij wachten."]),
        (
            "Prof. dr. De Vries en ir. Smit werken hier. Drs. Mulder niet.",
            &["Prof. dr. De Vries en ir. Smit werken hier.", "Drs. Mulder niet."],
        ),
        (
            "Er is fruit, bijv. Elstar en Goudreinet. Er zijn ook peren enz. Alles is vers.",
            &["Er is fruit, bijv. Elstar en Goudreinet.", "Er zijn ook peren enz.", "Alles is vers."],
        ),
        (
            "Zie blz. 5, afb. 3 en hfst. IV van nr. 2. Daar staat het.",
            &["Zie blz. 5, afb. 3 en hfst. IV van nr. 2.", "Daar staat het."],
        ),
        (
            "De stad viel in 44 v. Chr. en stond op. Hij stierf in 14 n. Chr. Toen kwam de vrede.",
            &["De stad viel in 44 v. Chr. en stond op.", "Hij stierf in 14 n. Chr.", "Toen kwam de vrede."],
        ),
        ("Hij is d.w.z. Willem is ziek. Dat is jammer.", &["Hij is d.w.z. Willem is ziek.", "Dat is jammer."]),
        (
            "Het kostte 5 mln. Euro's waren er niet. Het kostte 3 mld. Dat was te veel.",
            &["Het kostte 5 mln. Euro's waren er niet.", "Het kostte 3 mld.", "Dat was te veel."],
        ),
        ("Dat wist ik al. Peter ook.", &["Dat wist ik al.", "Peter ook."]),
        ("‘Kom!’ riep hij. ‘Waarom?’ Zij zweeg.", &["‘Kom!’ riep hij.", "‘Waarom?’", "Zij zweeg."]),
        (
            "– Kom! riep hij.\n– Waarom? vroeg zij.\n– Nee! – zei hij.",
            &["– Kom! riep hij.", "– Waarom? vroeg zij.", "– Nee! – zei hij."],
        ),
        ("Neem plan B. Daarna komt plan C.", &["Neem plan B.", "Daarna komt plan C."]),
        (
            "Dat schreef J. De Smet uit Gent. Niemand las het.",
            &["Dat schreef J. De Smet uit Gent.", "Niemand las het."],
        ),
    ],
    never_last: &[
        "Dhr", "Dr", "Drs", "Ds", "Gebr", "Ing", "Ir", "Jhr", "Mevr", "Mr", "Mw", "Prof", "bijv", "bv", "cf", "d.w.z",
        "dhr", "dr", "drs", "ds", "evt", "excl", "gebr", "i.p.v", "i.v.m", "incl", "ing", "ir", "jhr", "m.a.w",
        "m.b.t", "m.i.v", "m.n", "mevr", "mr", "mw", "o.a", "o.l.v", "prof", "resp", "t.a.v", "t.g.v", "vgl", "z.g",
        "zgn",
    ],
    before_numbers: &[
        "afb", "apr", "art", "artt", "aug", "bd", "bijl", "blz", "ca", "dec", "dl", "feb", "febr", "fig", "hfst",
        "jan", "jrg", "nov", "nr", "nrs", "okt", "p", "pag", "pp", "sept", "tab", "tel", "vol",
    ],
    rarely_last: &[
        "B.V", "Jr", "N.V", "Sr", "St", "e.v", "jl", "jr", "max", "min", "mld", "mln", "n.Chr", "sr", "v.Chr",
    ],
    often_last: &["a.u.b", "e.a", "e.d", "enz", "etc"],
    no_abbreviations: &["al", "est"],
    starters: &[
        "aan", "alle", "als", "bij", "daar", "daarna", "daarom", "dan", "dat", "de", "deze", "die", "dit", "door",
        "een", "eerst", "elk", "elke", "en", "er", "geen", "gisteren", "haar", "het", "hier", "hij", "hoe", "hun",
        "iedereen", "ik", "in", "is", "ja", "je", "jij", "later", "maar", "met", "mijn", "na", "nadat", "nee",
        "niemand", "niet", "niets", "nu", "of", "om", "omdat", "onze", "ook", "op", "sommige", "terwijl", "toch",
        "toen", "tot", "u", "uit", "vandaag", "veel", "vele", "verder", "voor", "waar", "waarom", "wanneer", "want",
        "was", "wat", "we", "wie", "wij", "ze", "zij", "zijn",
    ],
    reporting_verbs: &[
        "antwoordde", "antwoordt", "beval", "dacht", "fluisterde", "gilde", "lachte", "mompelde", "riep", "riepen",
        "roept", "schreeuwde", "snauwde", "sprak", "vraagt", "vroeg", "zegt", "zei", "zeiden",
    ],
    frequent: &[
        "aan", "alleen", "als", "bij", "bijv", "dan", "dat", "de", "deze", "die", "dit", "door", "een", "en", "er",
        "geen", "haar", "had", "hebben", "heeft", "het", "hij", "hun", "ik", "in", "is", "je", "kan", "liep", "maar",
        "meer", "met", "mijn", "na", "naar", "niemand", "niet", "nog", "of", "om", "omdat", "ook", "op", "over", "te",
        "toen", "tot", "uit", "van", "veel", "voor", "waar", "was", "wat", "we", "wel", "werd", "wij", "worden",
        "wordt", "ze", "zij", "zijn", "zo",
    ],
    ..EMPTY
};
