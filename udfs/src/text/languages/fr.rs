//! French.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const FRENCH: Language = Language {
    code: "fr",
    name: "French",
    examples: &[
        ("M. Dupont est parti. Mme Durand reste.", &["M. Dupont est parti.", "Mme Durand reste."]),
        ("MM. Dupont et Durand sont là. Mgr. Morel aussi.", &["MM. Dupont et Durand sont là.", "Mgr. Morel aussi."]),
        ("Des fruits, p. ex. des pommes. Rien d'autre.", &["Des fruits, p. ex. des pommes.", "Rien d'autre."]),
        (
            "Il écrit un livre, c.-à-d. Paris et ses rues. Elle lit.",
            &["Il écrit un livre, c.-à-d. Paris et ses rues.", "Elle lit."],
        ),
        (
            "César prit la ville en 52 av. J.-C. et partit. Elle fut détruite en 40 av. J.-C. Personne n'y revint.",
            &[
                "César prit la ville en 52 av. J.-C. et partit.",
                "Elle fut détruite en 40 av. J.-C.",
                "Personne n'y revint.",
            ],
        ),
        (
            "Voir fig. 3, vol. IV, art. 12 et p. 5. Tout y est.",
            &["Voir fig. 3, vol. IV, art. 12 et p. 5.", "Tout y est."],
        ),
        (
            "Des plumes, de l'encre, etc. et du papier. Des pommes, etc. Paul part.",
            &["Des plumes, de l'encre, etc. et du papier.", "Des pommes, etc.", "Paul part."],
        ),
        ("Je ne sais pas où il est. Marie le sait.", &["Je ne sais pas où il est.", "Marie le sait."]),
        (
            "« Viens ! » dit-il. « Pourquoi ? » demanda-t-elle. « Parce que. »",
            &["« Viens ! » dit-il.", "« Pourquoi ? » demanda-t-elle.", "« Parce que. »"],
        ),
        ("« Viens ! » Il partit.", &["« Viens ! »", "Il partit."]),
        (
            "— Viens ! dit-il.\n— Pourquoi ? lui demanda Anne.\n— Pars… — répondit-il.",
            &["— Viens ! dit-il.", "— Pourquoi ? lui demanda Anne.", "— Pars… — répondit-il."],
        ),
        (
            "Il est né en janv. 1950 à la Cie. Morel. La ville a 500 hab. Elle est petite.",
            &["Il est né en janv. 1950 à la Cie. Morel.", "La ville a 500 hab.", "Elle est petite."],
        ),
        ("J'aime le plan B. Ensuite vient le plan C.", &["J'aime le plan B.", "Ensuite vient le plan C."]),
        ("Voir J. Dupuis et A. Dumas. Ils le disent.", &["Voir J. Dupuis et A. Dumas.", "Ils le disent."]),
    ],
    never_last: &[
        "Dr", "M", "MM", "Me", "Mgr", "Mlle", "Mme", "N.B", "P.-S", "Pr", "Prof", "Vve", "c.-à-d", "cf", "env", "p.ex",
        "prof",
    ],
    before_numbers: &[
        "al", "art", "av", "avr", "ch", "chap", "déc", "fig", "févr", "janv", "juil", "n", "no", "nos", "nov", "oct",
        "p", "pl", "pp", "réf", "s", "sept", "t", "tab", "tél", "vol", "éd",
    ],
    rarely_last: &[
        "Cie", "J.-C", "St", "Ste", "apr.J.-C", "av.J.-C", "bd", "boul", "coll", "hab", "ibid", "loc.cit", "max",
        "min", "op.cit", "s.d", "trad",
    ],
    often_last: &["etc", "sq", "sqq"],
    no_abbreviations: &["est"],
    starters: &[
        "ainsi", "alors", "après", "au", "aucun", "aucune", "aujourd", "aussi", "aux", "avant", "avec", "c", "ce",
        "cependant", "ces", "cet", "cette", "chaque", "comme", "comment", "dans", "depuis", "des", "deux", "donc",
        "elle", "elles", "en", "enfin", "ensuite", "et", "hier", "ici", "il", "ils", "j", "je", "l", "la", "le", "les",
        "leur", "leurs", "là", "mais", "mon", "ne", "non", "nos", "notre", "nous", "on", "or", "ou", "oui", "où",
        "par", "personne", "plusieurs", "pour", "pourquoi", "pourtant", "puis", "qu", "quand", "que", "quelques",
        "qui", "quoi", "rien", "sa", "sans", "selon", "ses", "si", "son", "sous", "sur", "tous", "tout", "toutes",
        "trois", "tu", "un", "une", "voici", "voilà", "votre", "vous", "à",
    ],
    reporting_verbs: &[
        "ajouta", "chuchota", "cria", "crie", "demanda", "demandai", "demande", "dirent", "dis", "dit", "déclara",
        "fis", "fit", "gémit", "hurla", "insista", "interrogea", "lança", "lui", "murmura", "murmure", "ordonna",
        "pensa", "protesta", "reprit", "répliqua", "répond", "répondis", "répondit", "s", "souffla", "soupira",
        "supplia",
    ],
    frequent: &[
        "alors", "après", "au", "aussi", "aux", "avait", "avec", "bien", "ce", "ces", "cette", "comme", "dans", "de",
        "depuis", "des", "deux", "dit", "donc", "du", "elle", "en", "encore", "entre", "est", "et", "fait", "il",
        "ils", "jamais", "je", "la", "le", "les", "leur", "lui", "mais", "mme", "même", "ne", "nous", "on", "ont",
        "ou", "où", "par", "pas", "peut", "plus", "pour", "qu", "que", "qui", "rien", "sa", "sans", "se", "ses", "son",
        "sont", "sous", "sur", "tout", "très", "tu", "un", "une", "vous", "étaient", "était", "été", "être",
    ],
    letters: "çœêèâîôûëï",
    ..EMPTY
};
