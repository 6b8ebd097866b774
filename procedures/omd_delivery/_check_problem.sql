-- Placeholder.

CREATE OR REPLACE FUNCTION omd_delivery._check_problem(
    p_check text,
    p_entity_code text,
    p_attribute_code text,
    p_types jsonb
)
RETURNS text
LANGUAGE sql
BEGIN ATOMIC
    SELECT NULL::text;
END;
