-- V016: a table has one spelling, the one that PostgreSQL prints, in process control and in
-- lineage. The names that are there are put right. Applied once.

CREATE FUNCTION omd_lineage._v016_name(
    p_topic text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            omd.quote_table(m.parts[1], 'POSTGRES')
            || coalesce('#' || m.parts[2], '')
            || coalesce(':' || m.parts[3], ''),
            p_topic
        )
    FROM
        (
            SELECT
                regexp_match(
                    p_topic,
                    '^((?:\s*"(?:[^"]|"")+"\s*|[^".#:]+)\.(?:\s*"(?:[^"]|"")+"\s*|[^".#:]+))'
                    '(?:#([^#:]+))?(?::([^#:]+))?$'
                ) AS parts
        ) AS m;
END;

DO $do$
DECLARE
    v_names text[];
    v_old omd_lineage.topic;
    v_new omd_lineage.topic;
    v_is_changed boolean := FALSE;
BEGIN
    UPDATE omd.module AS m SET table_code = omd.quote_table(m.table_code, 'POSTGRES')
    WHERE m.platform_code = 'POSTGRES'
        AND omd.quote_table(m.table_code, 'POSTGRES') <> m.table_code;

    -- Both have an offset, and only a person knows which one counts.
    SELECT array_agg(t.topic ORDER BY t.topic_id) INTO v_names
    FROM omd_lineage.topic AS t
    GROUP BY omd_lineage._v016_name(t.topic)
    HAVING count(*) > 1
    LIMIT 1;
    IF v_names IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'unique_violation',
            MESSAGE = format(
                'the topics %s are one, %s: each of them loads its rows',
                array_to_string(v_names, ' and '), omd_lineage._v016_name(v_names[1])
            ),
            DETAIL = jsonb_build_object('topics', v_names)::text,
            HINT = format(
                'Nothing has changed. Keep the topic whose offset counts, remove the others, such as '
                'CALL omd_lineage.remove_topic(%L); and upgrade again.',
                v_names[cardinality(v_names)]
            );
    END IF;

    FOR v_old IN SELECT t.* FROM omd_lineage.topic AS t LOOP
        v_new := v_old;
        v_new.topic := omd_lineage._v016_name(v_old.topic);
        v_new.table_code := omd_lineage._v016_name(v_old.table_code);
        v_new.processor := omd_lineage._v016_name(v_old.processor);
        v_new.depends_on := ARRAY(
            SELECT omd_lineage._v016_name(d.name)
            FROM unnest(v_old.depends_on) WITH ORDINALITY AS d (name, n)
            ORDER BY d.n
        );
        IF v_old.engine = 'POSTGRES' THEN
            v_new.transforms := ARRAY(
                SELECT omd_lineage._v016_name(v.name)
                FROM unnest(v_old.transforms) WITH ORDINALITY AS v (name, n)
                ORDER BY v.n
            );
        END IF;
        IF v_new IS DISTINCT FROM v_old THEN
            v_is_changed := TRUE;
            UPDATE omd_lineage.topic AS t SET
                topic = v_new.topic,
                table_code = v_new.table_code,
                processor = v_new.processor,
                depends_on = v_new.depends_on,
                transforms = v_new.transforms
            WHERE t.topic_id = v_new.topic_id;
            IF v_new.topic <> v_old.topic THEN
                UPDATE omd_lineage.offsets AS o SET topic = v_new.topic
                WHERE o.topic_id = v_new.topic_id;
                UPDATE omd_lineage.log AS l SET topic = v_new.topic
                WHERE l.topic_id = v_new.topic_id;
                UPDATE omd_lineage.topic_history AS h SET topic = v_new.topic
                WHERE h.topic = v_old.topic;
            END IF;
        END IF;
    END LOOP;

    -- More topics may make a table than its spelling let see.
    IF v_is_changed THEN
        DELETE FROM omd_lineage.dependency;
        INSERT INTO omd_lineage.dependency (
            topic_id, ordinal, source_topic_id, is_single, depends_on, table_code
        )
        SELECT
            t.topic_id,
            d.ordinal,
            s.topic_id,
            count(*) OVER (PARTITION BY t.topic_id, d.ordinal) = 1,
            d.depends_on,
            n.parts[1]
        FROM omd_lineage.topic AS t
        CROSS JOIN LATERAL unnest(t.depends_on) WITH ORDINALITY AS d (depends_on, ordinal)
        CROSS JOIN LATERAL regexp_match(
            d.depends_on,
            '^((?:"(?:[^"]|"")+"|[^".#:]+)\.(?:"(?:[^"]|"")+"|[^".#:]+))'
            '(?:#([^#:]+))?(?::([^#:]+))?$'
        ) AS n (parts)
        LEFT JOIN omd_lineage.topic AS s
            ON
                n.parts[1] = s.table_code
                AND (n.parts[2] IS NULL OR n.parts[2] = s.tag)
                AND CASE
                    WHEN n.parts[3] IS NOT NULL THEN n.parts[3] = s.shard
                    WHEN t.shard IS NULL THEN TRUE
                    WHEN
                        EXISTS (
                            SELECT FROM omd_lineage.topic AS o
                            WHERE o.table_code = n.parts[1] AND o.shard = t.shard
                        )
                        THEN t.shard IS NOT DISTINCT FROM s.shard
                    ELSE s.shard IS NULL
                END;
    END IF;

    -- A step that runs meanwhile sets its block by this routine of V010, and it may do so only now.
    IF to_regproc('omd_lineage.write_block') IS NOT NULL THEN
        CREATE OR REPLACE PROCEDURE omd_lineage.write_block(
            p_topic text,
            p_start_position omd_lineage.row_position,
            p_end_position omd_lineage.row_position,
            p_is_local boolean DEFAULT TRUE
        )
        LANGUAGE plpgsql
        SECURITY INVOKER
        SET search_path = pg_catalog, pg_temp
        AS $write_block$
        BEGIN
            CALL omd_lineage._write_block(p_topic, p_start_position, p_end_position);
        END
        $write_block$;
    END IF;
END
$do$;

DROP FUNCTION omd_lineage._v016_name;

COMMENT ON COLUMN omd_lineage.topic.topic IS
'Name: schema.table[#tag][:shard], the table spelled as PostgreSQL prints it.';
