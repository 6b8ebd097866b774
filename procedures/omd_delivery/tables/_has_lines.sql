-- Only interfaces with an agreement that keeps lines have the columns; both come at once.

CREATE OR REPLACE FUNCTION omd_delivery._has_lines(
    p_table text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $has_lines$
BEGIN
    RETURN EXISTS (
        SELECT
        FROM pg_attribute AS c
        WHERE
            c.attrelid = to_regclass(p_table)
            AND c.attname = 'acm_source_line'
            AND NOT c.attisdropped
    );
END
$has_lines$;

COMMENT ON FUNCTION omd_delivery._has_lines IS
'Returns whether the table p_table, a quoted name, has the columns acm_source_file and '
'acm_source_line. Locks: none.';
