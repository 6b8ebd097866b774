-- It tells all names that were generated, shortened ones too.

CREATE OR REPLACE VIEW omd_report.facts_map AS
SELECT
    i.interface_code,
    e.entity_code,
    format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) AS anchor_table,
    c.context_code,
    c.context_kind,
    format('%I.%I', 'cfl_' || i.interface_code, c.context_table) AS context_table,
    ARRAY(
        SELECT a.attribute_code FROM omd_facts.attribute AS a
        WHERE a.context_id = c.context_id
        ORDER BY a.ordinal
    ) AS attribute_codes
FROM omd_facts.entity AS e
INNER JOIN omd_facts.interface AS i ON e.interface_id = i.interface_id
INNER JOIN omd_facts.context AS c ON e.entity_id = c.entity_id;

COMMENT ON VIEW omd_report.facts_map IS
'Where the attributes of each entity are stored, one row per context.';
COMMENT ON COLUMN omd_report.facts_map.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.facts_map.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.facts_map.anchor_table IS 'The table of its anchor.';
COMMENT ON COLUMN omd_report.facts_map.context_code IS 'The context.';
COMMENT ON COLUMN omd_report.facts_map.context_kind IS
'standard, immutable, alternate_key, multi_active or bitemporal.';
COMMENT ON COLUMN omd_report.facts_map.context_table IS 'The table of the context.';
COMMENT ON COLUMN omd_report.facts_map.attribute_codes IS
'The attributes that it stores, with its own key, in the order of the model.';
