-- A pattern becomes an expression whose groups are the parts of the time, in the order in which
-- they stand. All else is literal, so that no name of a tenant is taken for an expression.

CREATE OR REPLACE FUNCTION omd_delivery._folder_pattern(
    p_folder text,
    OUT expression text,
    OUT parts text[]
)
RETURNS record
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $folder_pattern$
BEGIN
    SELECT
        '^' || string_agg(
            CASE
                WHEN t.token = '{*}' THEN '.*'
                WHEN t.token = '{yyyy}' THEN '([0-9]{4})'
                WHEN t.token LIKE '{_%}' THEN '([0-9]{2})'
                ELSE regexp_replace(t.token, '([].[\\^$*+?(){}|-])', '\\\1', 'g')
            END,
            '' ORDER BY t.place
        ) || '$',
        array_agg(btrim(t.token, '{}') ORDER BY t.place)
        FILTER (WHERE t.token LIKE '{_%}' AND t.token <> '{*}')
    INTO expression, parts
    FROM (
        SELECT m.matched[1] AS token, m.place
        FROM regexp_matches(p_folder, '\{[^{}]*\}|[^{]+|\{', 'g')
        WITH ORDINALITY AS m (matched, place)
    ) AS t;
END
$folder_pattern$;

COMMENT ON FUNCTION omd_delivery._folder_pattern IS
'Returns the regular expression of the pattern p_folder of names, and the parts of the time that '
'its groups are: yyyy, MM, dd, HH, mm, ss. Locks: none.';
