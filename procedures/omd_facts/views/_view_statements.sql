-- PostgreSQL keeps a view parsed, and its text can't be compared with ours. So the comment of each
-- view ends with a checksum of our text: what somebody drops or changes is made anew.

CREATE OR REPLACE FUNCTION omd_facts._view_statements(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $view_statements$
DECLARE
    v_view record;
    v_name text;
    v_comment text;
    v_writer text;
    v_type text;
    v_query text;
    v_moment text;
BEGIN
    FOR v_view IN
        SELECT w.*, e.entity_id, i.interface_code, x.context_kind, x.valid_end,
            s.attribute_code AS valid_start
        FROM omd_facts._wanted_views(p_interface_id) AS w
        INNER JOIN omd_facts.entity AS e
            ON e.interface_id = p_interface_id AND w.view_name = e.entity_code
        INNER JOIN omd_facts.interface AS i ON e.interface_id = i.interface_id
        LEFT JOIN omd_facts.context AS x
            ON e.entity_id = x.entity_id AND x.context_kind = 'bitemporal'
        LEFT JOIN omd_facts.attribute AS s
            ON x.context_id = s.context_id AND s.key_position IS NOT NULL
    LOOP
        v_name := format('%I.%I', v_view.schema_name, v_view.view_name);
        v_moment := omd_facts._moment_sql(v_view.entity_id);
        v_writer := CASE
            WHEN split_part(v_view.schema_name, '_', 1) = 'gdal'
                THEN omd_facts._writer_sql(v_view.entity_id)
        END;
        v_comment := format(
            '%s of the entity %s. Generated: %s.',
            CASE split_part(v_view.schema_name, '_', 1)
                WHEN 'gdal' THEN 'Current facts'
                WHEN 'asof' THEN 'Facts as of the moment of the session'
                ELSE 'History'
            END,
            v_view.view_name,
            md5(concat_ws('|', v_view.select_list, v_view.from_clause, v_view.valid_end, v_writer))
        );
        CONTINUE WHEN obj_description(to_regclass(v_name), 'pg_class') = v_comment;
        RETURN NEXT format(
            E'CREATE OR REPLACE VIEW %s AS\nSELECT\n%s\n%s',
            v_name, v_view.select_list, v_view.from_clause
        );
        RETURN NEXT format('COMMENT ON VIEW %s IS %L', v_name, v_comment);
        IF to_regclass(v_name) IS NULL THEN
            RETURN NEXT format('GRANT SELECT ON %s TO omd_data_reader', v_name);
        END IF;
        IF v_writer IS NOT NULL THEN
            IF to_regclass(v_name) IS NULL THEN
                RETURN NEXT format('GRANT INSERT, UPDATE, DELETE ON %s TO omd_data_writer', v_name);
            END IF;
            RETURN NEXT v_writer;
            RETURN NEXT format(
                'REVOKE ALL ON FUNCTION %I.%I() FROM PUBLIC',
                'cfl_' || v_view.interface_code, '_write_' || v_view.view_name
            );
            RETURN NEXT format(
                'CREATE OR REPLACE TRIGGER trg_write INSTEAD OF INSERT OR UPDATE OR DELETE ON %s'
                ' FOR EACH ROW EXECUTE FUNCTION %I.%I()',
                v_name, 'cfl_' || v_view.interface_code, '_write_' || v_view.view_name
            );
            RETURN NEXT format(
                'CREATE OR REPLACE TRIGGER trg_delete AFTER DELETE ON %s'
                ' FOR EACH STATEMENT EXECUTE FUNCTION omd_facts._after_delete()',
                v_name
            );
        END IF;
        CONTINUE WHEN split_part(v_view.schema_name, '_', 1) <> 'asof';
        v_query := format(E'SELECT\n%s\n%s', v_view.select_list, v_view.from_clause);
        RETURN QUERY
        SELECT f
        FROM omd_facts._function_statements(
            v_view.schema_name, v_view.view_name, v_query, 'p_at timestamptz',
            replace(
                replace(v_query, '<= ' || v_moment, '<= $1'),
                v_moment, omd_facts._bounded_sql('$1')
            )
        ) AS f;
        CONTINUE WHEN v_view.context_kind IS DISTINCT FROM 'bitemporal';
        SELECT w.column_type INTO v_type
        FROM omd_facts._wanted_columns(p_interface_id) AS w
        INNER JOIN omd_facts.context AS c USING (context_id)
        INNER JOIN omd_facts.entity AS e ON c.entity_id = e.entity_id
        WHERE e.entity_code = v_view.view_name AND w.column_name = v_view.valid_start;
        RETURN QUERY
        SELECT f
        FROM omd_facts._function_statements(
            v_view.schema_name, v_view.view_name, v_query,
            format('p_known_at timestamptz, p_valid_at %s', v_type),
            format(
                E'SELECT DISTINCT ON (f.acm_id) f.*\nFROM %1$s($1) AS f\nWHERE f.%2$I <= $2%3$s\n'
                'ORDER BY f.acm_id, f.%2$I DESC',
                v_name,
                v_view.valid_start,
                CASE
                    WHEN v_view.valid_end IS NOT NULL
                        THEN format(' AND (f.%1$I IS NULL OR f.%1$I > $2)', v_view.valid_end)
                    ELSE ''
                END
            )
        ) AS f;
    END LOOP;
END
$view_statements$;

COMMENT ON FUNCTION omd_facts._view_statements IS
'Returns the statements that bring the views of the interface p_interface_id to its mapping. '
'Locks: none.';
