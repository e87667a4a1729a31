-- reads:  components(text_id, component), representatives(component, representative), texts(text_id, set)
-- writes: members(text_id, representative, similarity): each text with the representative of its component
CREATE TABLE members AS
SELECT components.text_id, representatives.representative, jaccard(a.set, b.set) AS similarity
FROM components
JOIN representatives ON components.component = representatives.component
JOIN (SELECT texts.* FROM texts LEFT SEMI JOIN components ON texts.text_id = components.text_id) AS a
    ON components.text_id = a.text_id
JOIN (SELECT texts.* FROM texts LEFT SEMI JOIN representatives ON texts.text_id = representatives.representative) AS b
    ON representatives.representative = b.text_id
