-- What has become of a member stands in its newest instance of this Batch Instance. A member that
-- had nothing to do, or could not begin, leaves none; it is noted in tried_members. Who asks for
-- two members reads these alone: with a join to all runs of the Batch, m members cost m * m.

CREATE OR REPLACE FUNCTION omd._members_of_instance(
    p_batch_instance_id bigint,
    p_member_type text DEFAULT NULL,
    p_member_code text DEFAULT NULL
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
    v_first integer := -2147483648;  -- the lowest sequence
    v_most bigint;
BEGIN
    SELECT bi.batch_id, coalesce(bi.tried_members, '{}') AS tried INTO v_batch
    FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = p_batch_instance_id AND bi.batch_instance_id <> 0;
    IF p_member_code IS NOT NULL THEN
        v_most := 2;
        v_first := CASE p_member_type
            WHEN 'MODULE'
                THEN (
                    SELECT bm.sequence
                    FROM omd.module AS m
                    INNER JOIN omd.batch_module AS bm ON m.module_id = bm.module_id
                    WHERE m.module_code = p_member_code AND bm.batch_id = v_batch.batch_id
                )
            WHEN 'BATCH'
                THEN (
                    SELECT h.sequence
                    FROM omd.batch AS b
                    INNER JOIN omd.batch_hierarchy AS h ON b.batch_id = h.batch_id
                    WHERE b.batch_code = p_member_code AND h.parent_batch_id = v_batch.batch_id
                )
        END;
        IF v_first IS NULL THEN
            RETURN;
        END IF;
    END IF;
    RETURN QUERY
    WITH modules AS (
        SELECT
            bm.module_id,
            bm.sequence,
            m.module_code
        FROM omd.batch_module AS bm
        INNER JOIN omd.module AS m ON bm.module_id = m.module_id
        WHERE bm.batch_id = v_batch.batch_id
            AND bm.sequence >= v_first
            AND (p_member_code IS NULL OR (bm.sequence, m.module_code) >= (v_first, p_member_code))
            AND p_member_type IS DISTINCT FROM 'BATCH'
        ORDER BY bm.sequence, m.module_code
        LIMIT v_most
    ),

    children AS (
        SELECT
            h.batch_id,
            h.sequence,
            b.batch_code
        FROM omd.batch_hierarchy AS h
        INNER JOIN omd.batch AS b ON h.batch_id = b.batch_id
        WHERE h.parent_batch_id = v_batch.batch_id
            AND (
                p_member_type IS DISTINCT FROM 'BATCH'
                OR (h.sequence, b.batch_code) >= (v_first, p_member_code)
            )
        ORDER BY h.sequence, b.batch_code
        LIMIT v_most
    ),

    -- An array has no order, for which the planner would read all runs of a Module.
    members AS (
        SELECT
            1 AS part,
            m.sequence,
            'MODULE' AS type,
            m.module_code AS code,
            (
                SELECT
                    (array_agg(mi.execution_status_code ORDER BY mi.module_instance_id DESC))[1]
                FROM omd.module_instance AS mi
                WHERE mi.batch_instance_id = p_batch_instance_id
                    AND mi.batch_instance_id <> 0
                    AND mi.module_id = m.module_id
            ) AS status
        FROM modules AS m
        UNION ALL
        SELECT
            2 AS part,
            c.sequence,
            'BATCH' AS type,
            c.batch_code AS code,
            (
                SELECT (array_agg(ci.execution_status_code ORDER BY ci.batch_instance_id DESC))[1]
                FROM omd.batch_instance AS ci
                WHERE ci.parent_batch_instance_id = p_batch_instance_id
                    AND ci.parent_batch_instance_id <> 0
                    AND ci.batch_id = c.batch_id
            ) AS status
        FROM children AS c
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
    ORDER BY 1
    LIMIT v_most;
END
$members_of_instance$;

COMMENT ON FUNCTION omd._members_of_instance IS
'Returns the members of the Batch of p_batch_instance_id in their order (place), whether each is '
'done in this instance, and the line that says its failure (failure; NULL: it has not failed). '
'p_member_type, p_member_code: only this member and the next one, and nothing if it is none; NULL: '
'all. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._members_of_instance TO omd_runner;
