-- The way goes by the positions of rows too, which are read with the rights of the caller; what its
-- runs are is said with those of the owner.

CREATE OR REPLACE FUNCTION omd_provenance._trace(
    p_module_instance_id bigint,
    p_direction text,
    p_depth integer,
    p_most integer DEFAULT NULL
)
RETURNS TABLE (
    direction text,
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean,
    delivery_id bigint,
    delivery_status text,
    files text[],
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $trace$
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    p_direction := omd.require_argument('p_direction', p_direction);
    p_depth := omd.require_argument('p_depth', p_depth);
    IF p_direction NOT IN ('UP', 'DOWN', 'BOTH') OR p_depth < 0 THEN
        PERFORM omd.raise_error(
            'OM006',
            jsonb_build_object(
                'code', CASE WHEN p_depth < 0 THEN p_depth::text ELSE p_direction END,
                'kind', CASE WHEN p_depth < 0 THEN 'depth' ELSE 'direction' END,
                'codes', CASE WHEN p_depth < 0 THEN '0 or more' ELSE 'UP, DOWN, BOTH' END
            )
        );
    END IF;
    PERFORM omd_provenance._require_run(p_module_instance_id);
    RETURN QUERY
    SELECT s.*
    FROM omd_provenance._shown_way(
        p_module_instance_id,
        (
            SELECT jsonb_agg(to_jsonb(w))
            FROM unnest('{UP,DOWN}'::text[]) AS d (direction)
            CROSS JOIN LATERAL (
                SELECT d.direction, r.*
                FROM omd_provenance._walk(
                    p_module_instance_id, d.direction = 'UP', TRUE, p_depth, p_most
                ) AS r
                WHERE p_direction IN (d.direction, 'BOTH')
                ORDER BY r.distance, r.module_instance_id
                LIMIT p_most
            ) AS w
        )
    ) AS s;
END
$trace$;

COMMENT ON FUNCTION omd_provenance._trace IS
'Returns what omd_provenance.trace does, in each direction the p_most nearest runs (NULL: all). '
'Errors: OM004, OM005, OM006. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._trace TO omd_reader, omd_data_reader;
