//! Names that mean something: namespaces, languages, titles of sections, templates of disambiguation pages.

use crate::sections::Kind;

/// The length of the longest name, in bytes. A longer name is not in the lists below.
const LONGEST_NAME: usize = 80;

/// The most names of namespaces that a dump may add to those that are known.
const MOST_NAMESPACES: usize = 64;

/// The names of the namespaces of files and categories in the dumps of the larger wikis. Others are in the head of the
/// dump.
const FILES: &[&str] = &[
    "afbeelding",
    "archivo",
    "bestand",
    "bild",
    "datei",
    "fichier",
    "ficheiro",
    "fil",
    "file",
    "grafika",
    "image",
    "imagem",
    "imagen",
    "immagine",
    "plik",
    "изображение",
    "файл",
    "תמונה",
    "קובץ",
    "ملف",
    "پرونده",
    "ファイル",
    "画像",
    "图像",
    "图片",
    "圖像",
    "圖片",
    "文件",
    "檔案",
    "파일",
    "그림",
];
const CATEGORIES: &[&str] = &[
    "categoria",
    "categorie",
    "category",
    "categoría",
    "catégorie",
    "kategori",
    "kategoria",
    "kategorie",
    "категория",
    "категорія",
    "קטגוריה",
    "تصنيف",
    "رده",
    "カテゴリ",
    "分类",
    "分類",
    "분류",
];

/// The codes of the languages that have or had a Wikipedia. Links to its pages begin with the code.
const LANGUAGES: &str = "aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb \
    ba ban bar bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo \
    ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et eu \
    ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv \
    ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab \
    kbd kbp kcg kg kge ki kj kk kl km kn ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo \
    lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mnw mo mr mrj ms mt mus mwl my myv mzn na nah nan nap \
    nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl \
    pms pnb pnt ps pt pwn qu rki rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi \
    shn shy si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk \
    tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue \
    za zea zgh zh zh-classical zh-cn zh-min-nan zh-tw zh-yue zu";

/// The languages whose wikis write variants as `-{…}-`.
const WITH_VARIANTS: &[&str] =
    &["ban", "crh", "gan", "iu", "kk", "ku", "sh", "shi", "sr", "tg", "tly", "uz", "wuu", "zgh", "zh"];

/// Titles of sections of references, in lower case.
const REFERENCES: &[&str] = &[
    "additional reading",
    "bibliography",
    "citations",
    "cited sources",
    "cited works",
    "endnotes",
    "explanatory notes",
    "footnote",
    "footnotes",
    "further reading",
    "general bibliography",
    "general references",
    "general sources",
    "inline citations",
    "list of references",
    "literature",
    "literature cited",
    "note",
    "notes",
    "primary sources",
    "reference",
    "reference list",
    "references",
    "references cited",
    "secondary sources",
    "select bibliography",
    "selected bibliography",
    "selected reading",
    "source",
    "sources",
    "suggested reading",
    "works cited",
    // German, French, Spanish, Italian, Portuguese, Dutch, Russian
    "anmerkungen",
    "belege",
    "einzelnachweise",
    "fußnoten",
    "literatur",
    "quellen",
    "bibliographie",
    "notes et références",
    "références",
    "bibliografía",
    "notas",
    "notas y referencias",
    "referencias",
    "bibliografia",
    "fonti",
    "fontes",
    "notas e referências",
    "referências",
    "bronnen",
    "literatuur",
    "noten",
    "источники",
    "литература",
    "примечания",
    // Chinese, Japanese, Korean
    "出典",
    "参考文献",
    "参考资料",
    "參考文獻",
    "參考資料",
    "注釈",
    "注释",
    "脚注",
    "註釋",
    "각주",
    "참고 문헌",
];

/// Titles of sections of links, in lower case.
const LINKS: &[&str] = &[
    "external link",
    "external links",
    "external sites",
    "related links",
    "related pages",
    "see also",
    // German, French, Spanish, Italian, Portuguese, Dutch, Russian
    "siehe auch",
    "weblinks",
    "articles connexes",
    "liens externes",
    "voir aussi",
    "enlaces externos",
    "véase también",
    "collegamenti esterni",
    "voci correlate",
    "ligações externas",
    "ver também",
    "externe links",
    "zie ook",
    "см. также",
    "ссылки",
    // Chinese, Japanese, Korean
    "参见",
    "参看",
    "參見",
    "參看",
    "外部リンク",
    "外部連結",
    "外部链接",
    "関連項目",
    "같이 보기",
    "외부 링크",
];

/// Names of templates that only pages of disambiguation have, in lower case; see also [`marks_disambiguation`].
const DISAMBIGUATION: &[&str] = &[
    "aimai",
    "airportdis",
    "begriffsklärung",
    "bkl",
    "callsigndis",
    "dab",
    "desambiguación",
    "desambiguação",
    "dp",
    "förgrening",
    "geodis",
    "hndis",
    "homonymie",
    "hospitaldis",
    "mathdab",
    "numberdis",
    "roaddis",
    "schooldis",
    "ujednoznacznienie",
    "неоднозначность",
    "消歧义",
    "消歧義",
    "동음이의",
];

/// The names and settings of a wiki.
#[derive(Debug, Default)]
pub struct Site {
    files: Vec<String>,
    categories: Vec<String>,
    /// True if `-{…}-` is markup.
    pub(super) variants: bool,
}

impl Site {
    /// Sets the language from the head of a dump, such as zh or zh-TW.
    pub fn set_language(&mut self, language: &str) {
        let primary = language.split('-').next().unwrap_or_default().to_ascii_lowercase();
        self.variants = WITH_VARIANTS.contains(&primary.as_str());
    }

    /// Adds a name of a namespace from the head of a dump; `key` is its number there. Only the names of files and
    /// categories are kept.
    pub fn add_namespace(&mut self, key: &str, name: &str) {
        let names = match key.trim() {
            "6" => &mut self.files,
            "14" => &mut self.categories,
            _ => return,
        };
        if names.len() < MOST_NAMESPACES && name.len() <= LONGEST_NAME {
            names.push(canonical(name));
        }
    }

    /// Returns true if a link shows something else than itself, or nothing: a file, a category, the page in another
    /// language. `target` begins after `[[` and may go on after the link.
    pub(super) fn hides(&self, target: &str) -> bool {
        let end = target.bytes().take(LONGEST_NAME).position(|b| matches!(b, b':' | b'|' | b']' | b'[' | b'\n' | b'#'));
        let Some(end) = end.filter(|end| target.as_bytes()[*end] == b':') else { return false };
        let prefix = canonical(&target[..end]);
        // The prefix of `[[:Category:Ships]]` is empty, too. It is a link like others.
        if prefix.is_empty() {
            return false;
        }
        let own = |names: &[String]| names.contains(&prefix);
        let known = |names: &[&str]| names.contains(&prefix.as_str());
        known(FILES)
            || known(CATEGORIES)
            || own(&self.files)
            || own(&self.categories)
            || (prefix.len() <= 12 && LANGUAGES.split_ascii_whitespace().any(|language| language == prefix))
    }
}

/// Returns a name in the form in which names are compared: `_` is a space, upper case is lower case.
pub(super) fn canonical(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    canonical_into(name, &mut out);
    out
}

/// Does the same as [`canonical`], into a string that is emptied first.
pub(super) fn canonical_into(name: &str, out: &mut String) {
    out.clear();
    let name = name.trim_matches([' ', '_', '\t', '\n', '\r']);
    if name.is_ascii() {
        out.extend(name.bytes().map(|b| if b == b'_' { ' ' } else { b.to_ascii_lowercase() as char }));
    } else {
        out.extend(name.chars().flat_map(char::to_lowercase).map(|c| if c == '_' { ' ' } else { c }));
    }
}

/// Returns the kind of a section by its title. `None` if the title does not indicate it.
pub(super) fn kind_of_section(title: &str) -> Option<Kind> {
    if title.len() > LONGEST_NAME {
        return None;
    }
    let title = title.to_lowercase();
    let title = title.trim_end_matches([':', '：', ' ']);
    let kind_of = |part: &str| {
        if REFERENCES.contains(&part) {
            Some(Kind::References)
        } else if LINKS.contains(&part) {
            Some(Kind::Links)
        } else {
            None
        }
    };
    if let Some(kind) = kind_of(title) {
        return Some(kind);
    }
    // “Notes and references”, “Sources, notes & further reading”.
    let mut kinds = title
        .split([',', '&', '/', ';'])
        .flat_map(|part| part.split(" and "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(kind_of);
    let first = kinds.next()??;
    kinds.try_fold(first, |kind, next| Some(if next? == Kind::References { Kind::References } else { kind }))
}

/// Returns true if a template of this name, in lower case, makes its page a disambiguation page.
pub(super) fn marks_disambiguation(name: &str) -> bool {
    // `{{disambiguation needed}}` may follow a link in any article, and talk pages name the WikiProject.
    if name.ends_with("needed") || name.ends_with("inline") || name.starts_with("wikiproject") {
        return false;
    }
    name.starts_with("disambig") || name.ends_with(" disambiguation") || DISAMBIGUATION.contains(&name)
}

/// Returns true if a page of this title is a disambiguation page.
pub fn is_disambiguation_title(title: &str) -> bool {
    title.ends_with("(disambiguation)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_categories_and_languages_are_hidden() {
        let mut site = Site::default();
        site.add_namespace("6", "Lêer");
        site.add_namespace("14", "Kategorie");
        site.add_namespace("0", "");
        for target in
            ["File:a.jpg|thumb", "image : a.jpg", "Lêer:a", "Category:Ships", "de:Schiff", "zh-min-nan:x", "ar:س"]
        {
            assert!(site.hides(target), "{target}");
        }
        for target in
            ["Ship", ":Category:Ships", ":de:Schiff", "wikt:ship", "Ship|de:x", "2001: A", "User:de:x", "#a:b", ""]
        {
            assert!(!site.hides(target), "{target}");
        }
    }

    #[test]
    fn titles_tell_sections_apart() {
        for title in [
            "References",
            "NOTES",
            "Notes and references",
            "Further reading:",
            "Sources, notes & citations",
            "参考文献",
        ] {
            assert_eq!(kind_of_section(title), Some(Kind::References), "{title}");
        }
        for title in ["External links", "see also", "Weblinks"] {
            assert_eq!(kind_of_section(title), Some(Kind::Links), "{title}");
        }
        assert_eq!(kind_of_section("External links and references"), Some(Kind::References));
        for title in ["History", "Notes and queries", "Sources of the Nile", "Reading", "and", "", " , "] {
            assert_eq!(kind_of_section(title), None, "{title}");
        }
    }

    #[test]
    fn disambiguation_is_told_by_template_or_title() {
        for name in ["disambiguation", "disambig", "disambiguation page", "human name disambiguation", "hndis", "dab"] {
            assert!(marks_disambiguation(name), "{name}");
        }
        for name in ["disambiguation needed", "wikiproject disambiguation", "about", "for", "ship"] {
            assert!(!marks_disambiguation(name), "{name}");
        }
        assert!(is_disambiguation_title("Mercury (disambiguation)"));
        assert!(!is_disambiguation_title("Disambiguation"));
    }

    #[test]
    fn variants_are_of_languages() {
        let mut site = Site::default();
        for (language, variants) in [("zh", true), ("zh-TW", true), ("en", false), ("sr-Latn", true), ("", false)] {
            site.set_language(language);
            assert_eq!(site.variants, variants, "{language}");
        }
    }
}
