-- A view under a declaration may have changed, and so may the routines that the SQL of a Module
-- calls. The oldest looks come first. A plan must know what was read up to now: the looks of
-- Modules that have not run since are new enough for it, however old they are.

CREATE OR REPLACE FUNCTION omd._due_looks(
    p_limit integer
)
RETURNS TABLE (module_code text, declaration_id bigint)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        d.module_code,
        d.declaration_id
    FROM (
        (
            SELECT
                m.module_code,
                CASE WHEN d.origin <> 'CATALOGUE' THEN d.declaration_id END AS declaration_id,
                d.looked_datetime
            FROM omd.module_declaration AS d
            INNER JOIN omd.module AS m ON d.module_id = m.module_id
            WHERE
                d.upto_id IS NULL
                AND CASE
                    WHEN p_limit IS NOT NULL
                        THEN d.looked_datetime < clock_timestamp() - interval '1 minute'
                    ELSE EXISTS (
                        SELECT FROM omd.module_instance AS mi
                        WHERE
                            mi.module_id = d.module_id
                            AND mi.module_instance_id > coalesce(d.looked_upto, 0)
                    )
                END
            ORDER BY d.looked_datetime
            LIMIT p_limit
        )
        UNION ALL
        (
            SELECT
                m.module_code,
                NULL AS declaration_id,
                '-infinity' AS looked_datetime
            FROM omd.module AS m
            WHERE
                m.module_kind_code = 'SQL'
                AND m.inactive_indicator = 'N'
                AND NOT EXISTS (
                    SELECT FROM omd.module_declaration AS d
                    WHERE
                        d.module_id = m.module_id
                        AND d.upto_id IS NULL
                        AND d.origin IN ('HAND', 'CATALOGUE')
                )
            ORDER BY m.module_id
            LIMIT p_limit
        )
    ) AS d
    ORDER BY d.looked_datetime
    LIMIT p_limit;
END;

COMMENT ON FUNCTION omd._due_looks IS
'Returns at most p_limit Modules whose inputs are to be looked up again: by their SQL, or by the '
'declaration declaration_id. p_limit NULL: all that have run since their last look. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._due_looks TO omd_runner, omd_admin;
