-- What has become of a member stands in its newest instance of this Batch Instance. A member that
-- had nothing to do, or could not begin, leaves none; it is noted in tried_members.

CREATE OR REPLACE FUNCTION omd._members_of_instance(
    p_batch_instance_id bigint
)
RETURNS TABLE (
    place bigint,
    member_type text,
    member_code text,
    is_done boolean,
    failure text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $members_of_instance$
DECLARE
    v_batch record;
BEGIN
    SELECT bi.batch_id, coalesce(bi.tried_members, '{}') AS tried INTO v_batch
    FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = p_batch_instance_id AND bi.batch_instance_id <> 0;
    RETURN QUERY
    WITH runs AS MATERIALIZED (
        SELECT DISTINCT ON (mi.module_id)
            mi.module_id,
            mi.execution_status_code AS status
        FROM omd.module_instance AS mi
        WHERE mi.batch_instance_id = p_batch_instance_id AND mi.batch_instance_id <> 0
        ORDER BY mi.module_id, mi.module_instance_id DESC
    ),

    children AS MATERIALIZED (
        SELECT DISTINCT ON (ci.batch_id)
            ci.batch_id,
            ci.execution_status_code AS status
        FROM omd.batch_instance AS ci
        WHERE ci.parent_batch_instance_id = p_batch_instance_id
            AND ci.parent_batch_instance_id <> 0
        ORDER BY ci.batch_id, ci.batch_instance_id DESC
    ),

    members AS (
        SELECT
            1 AS part,
            bm.sequence,
            'MODULE' AS type,
            m.module_code AS code,
            r.status
        FROM omd.batch_module AS bm
        INNER JOIN omd.module AS m ON bm.module_id = m.module_id
        LEFT JOIN runs AS r ON bm.module_id = r.module_id
        WHERE bm.batch_id = v_batch.batch_id
        UNION ALL
        SELECT
            2 AS part,
            h.sequence,
            'BATCH' AS type,
            b.batch_code AS code,
            c.status
        FROM omd.batch_hierarchy AS h
        INNER JOIN omd.batch AS b ON h.batch_id = b.batch_id
        LEFT JOIN children AS c ON h.batch_id = c.batch_id
        WHERE h.parent_batch_id = v_batch.batch_id
    ),

    noted AS (
        SELECT
            n.*,
            n.type || ' ' || n.code AS name
        FROM members AS n
    )

    SELECT
        row_number() OVER (ORDER BY n.part, n.sequence, n.code),
        n.type,
        n.code,
        coalesce(n.status <> 'E', FALSE) OR v_batch.tried ? n.name,
        CASE
            WHEN v_batch.tried ->> n.name IS NOT NULL OR n.status = 'F'
                THEN
                    format(
                        '%s %s failed%s', initcap(n.type), n.code,
                        ': ' || nullif(v_batch.tried ->> n.name, '')
                    )
        END
    FROM noted AS n
    ORDER BY 1;
END
$members_of_instance$;

COMMENT ON FUNCTION omd._members_of_instance IS
'Returns the members of the Batch of p_batch_instance_id in their order (place), whether each is '
'done in this instance, and the line that says its failure (failure; NULL: it has not failed). '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd._members_of_instance TO omd_runner;
