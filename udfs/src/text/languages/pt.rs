//! Portuguese.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const PORTUGUESE: Language = Language {
    code: "pt",
    name: "Portuguese",
    examples: &[
        ("O Sr. Silva chegou tarde. A Sra. Costa saiu.", &["O Sr. Silva chegou tarde.", "A Sra. Costa saiu."]),
        (
            "O Exmo. Dr. Lima e a Profa. Reis falaram. O Pe. Dias ouviu.",
            &["O Exmo. Dr. Lima e a Profa. Reis falaram.", "O Pe. Dias ouviu."],
        ),
        (
            "Há frutas, p. ex. maçãs. Há peras, uvas, etc. Tudo é fresco.",
            &["Há frutas, p. ex. maçãs.", "Há peras, uvas, etc.", "Tudo é fresco."],
        ),
        (
            "Ver a pág. 5, o art. XII e a fig. 3 do cap. 4. Está tudo lá.",
            &["Ver a pág. 5, o art. XII e a fig. 3 do cap. 4.", "Está tudo lá."],
        ),
        (
            "Morreu em 44 a. C. em Roma. Nasceu em 100 a. C. O pai era cônsul.",
            &["Morreu em 44 a. C. em Roma.", "Nasceu em 100 a. C.", "O pai era cônsul."],
        ),
        (
            "É uma igreja do séc. XV e outra do séc. XVI. Ambas são belas.",
            &["É uma igreja do séc. XV e outra do séc. XVI.", "Ambas são belas."],
        ),
        ("Eles foram ao mar. 3 ficaram.", &["Eles foram ao mar.", "3 ficaram."]),
        (
            "— Vem! — disse ele.\n— Porquê? — perguntou ela.\n— Não.\n— Olhou o relógio.",
            &["— Vem! — disse ele.", "— Porquê? — perguntou ela.", "— Não.", "— Olhou o relógio."],
        ),
        ("«Vem!» disse ele. «Porquê?» Ela calou-se.", &["«Vem!» disse ele.", "«Porquê?»", "Ela calou-se."]),
        ("– Vem! disse ele.\n– Não!", &["– Vem! disse ele.", "– Não!"]),
        (
            "Trabalha na Silva & Cia. Lda. e na Costa S. A. do Porto. Gosta da Costa S. A. Ninguém sabe.",
            &["Trabalha na Silva & Cia. Lda. e na Costa S. A. do Porto.", "Gosta da Costa S. A.", "Ninguém sabe."],
        ),
        ("É o plano B. Depois vem o plano C.", &["É o plano B.", "Depois vem o plano C."]),
        ("Nasceu em fev. 1950 na Av. Central. Vive lá.", &["Nasceu em fev. 1950 na Av. Central.", "Vive lá."]),
    ],
    never_last: &[
        "Cel", "Des", "Dr", "Dra", "Drs", "Eng", "Exma", "Exmo", "Gen", "Ilmo", "Pe", "Prof", "Profa", "Rev", "Revmo",
        "Sr", "Sra", "Sras", "Srs", "Srta", "Sta", "Sto", "cf", "dr", "dra", "drs", "p.ex", "prof", "profa", "sr",
        "sra", "sras", "srs", "srta", "v.g",
    ],
    before_numbers: &[
        "abr", "ago", "aprox", "art", "arts", "c", "cap", "caps", "dez", "fev", "fig", "figs", "inc", "jan", "jul",
        "jun", "mai", "n", "nov", "núm", "out", "p", "pp", "pág", "págs", "ref", "set", "séc", "sécs", "t", "tab",
        "tel", "vol", "vols",
    ],
    rarely_last: &[
        "Av", "Cia", "Depto", "E.U.A", "Jr", "Lda", "Ltda", "S.A", "a.C", "av", "d.C", "ed", "eds", "loc.cit", "máx",
        "mín", "obs", "op.cit",
    ],
    often_last: &["etc", "segs", "ss"],
    no_abbreviations: &["mar"],
    starters: &[
        "a", "agora", "algo", "ali", "além", "ao", "aquele", "aqui", "as", "assim", "até", "cada", "com", "como",
        "depois", "desde", "dois", "e", "ela", "elas", "ele", "eles", "em", "embora", "entre", "então", "era", "essa",
        "esse", "esta", "estas", "este", "estes", "eu", "foi", "hoje", "há", "isso", "isto", "já", "lá", "mas", "meu",
        "muitas", "muitos", "na", "nada", "nas", "ninguém", "no", "nos", "nosso", "não", "nós", "o", "onde", "ontem",
        "os", "ou", "outra", "outro", "para", "por", "porque", "quando", "que", "quem", "se", "segundo", "sem", "seu",
        "sim", "sobre", "sua", "são", "também", "todo", "todos", "três", "um", "uma", "você", "vocês", "à", "às", "é",
    ],
    reporting_verbs: &[
        "acrescentou", "disse", "disseram", "disseste", "diz", "exclama", "exclamou", "falou", "grita", "gritaram",
        "gritou", "murmurou", "ordenou", "pensou", "pergunta", "perguntou", "repetiu", "replicou", "responde",
        "respondeu", "retorquiu", "sussurrou",
    ],
    frequent: &[
        "ainda", "ao", "aos", "as", "até", "com", "como", "da", "das", "de", "depois", "do", "dos", "ela", "ele", "em",
        "então", "era", "estavam", "está", "eu", "foi", "foram", "havia", "há", "isso", "já", "lhe", "mais", "mas",
        "mesmo", "muito", "na", "nas", "ninguém", "no", "nos", "não", "nós", "onde", "os", "ou", "para", "pela",
        "pelo", "por", "quando", "que", "quem", "se", "sem", "ser", "seu", "seus", "sr", "sra", "sua", "são", "só",
        "também", "tem", "ter", "um", "uma", "você", "à", "às", "é",
    ],
    letters: "ãõç",
    ..EMPTY
};
