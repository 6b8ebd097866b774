-- A name is shown only where the catalogue has it on the target of the Module: the look goes from
-- the catalogue to the text, so that nothing of the text itself is ever returned.

CREATE OR REPLACE FUNCTION omd.shown_failure(
    p_code text,
    p_text text,
    p_module_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        concat_ws(
            ' ',
            concat_ws(
                ': ',
                omd.shown_error(p_code, p_text),
                (
                    SELECT s.sentence FROM omd.error_sentence AS s
                    WHERE
                        s.sqlstate_code IN (p_code, left(p_code, 2) || '000')
                        AND length(p_code) = 5
                    ORDER BY s.sqlstate_code = p_code DESC
                    LIMIT 1
                )
            ),
            CASE
                WHEN p_code ~ '^23' AND strpos(p_text, '"') > 0
                    THEN (
                        SELECT
                            '('
                            || string_agg(n.kind || ' ' || n.name, ', ' ORDER BY n.place)
                            || ')'
                        FROM omd.module AS m
                        CROSS JOIN LATERAL omd.target_relation(m.table_code) AS r (oid)
                        CROSS JOIN
                            LATERAL (
                                SELECT
                                    1 AS place,
                                    'column' AS kind,
                                    a.attname AS name
                                FROM pg_catalog.pg_attribute AS a
                                WHERE a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
                                UNION ALL
                                SELECT
                                    2 AS place,
                                    'constraint' AS kind,
                                    c.conname AS name
                                FROM pg_catalog.pg_constraint AS c
                                WHERE c.conrelid = r.oid
                                UNION ALL
                                SELECT
                                    2 AS place,
                                    'index' AS kind,
                                    i.relname AS name
                                FROM pg_catalog.pg_index AS x
                                INNER JOIN pg_catalog.pg_class AS i ON x.indexrelid = i.oid
                                WHERE
                                    x.indrelid = r.oid
                                    AND x.indisunique
                                    AND NOT EXISTS (
                                        SELECT FROM pg_catalog.pg_constraint AS c
                                        WHERE c.conindid = x.indexrelid AND c.conrelid = r.oid
                                    )
                                UNION ALL
                                SELECT
                                    3 AS place,
                                    'table' AS kind,
                                    t.relname AS name
                                FROM pg_catalog.pg_class AS t
                                WHERE t.oid = r.oid
                            ) AS n
                        WHERE
                            m.module_id = p_module_id
                            AND strpos(split_part(p_text, chr(10), 1), '"' || n.name || '"') > 0
                    )
            END
        )
    WHERE p_text IS NOT NULL;
END;

COMMENT ON FUNCTION omd.shown_failure IS
'For rooms: Returns what everybody may see of the error text p_text with the code p_code of a run '
'of the Module p_module_id: what omd.shown_error returns, the sentence of omd.error_sentence, and '
'which column, constraint and table it names, where they are those of the target in this database. '
'p_module_id: NULL for none. NULL when p_text is NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.shown_failure TO omd_reader;
