-- The few Modules with a pending rollback are read first, so that the number of Modules and of
-- tables hardly matters. A Module without a Batch, one of whose successes with a load window is
-- marked R, is left to its own begin: the program that gives it windows (such as lineage) keeps the
-- position where it continues, and must set it back.

CREATE OR REPLACE FUNCTION omd._referencing_modules(
    p_module_id integer
)
RETURNS SETOF integer
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH waiting AS MATERIALIZED (
        SELECT DISTINCT mi.module_id
        FROM omd.module_instance AS mi
        WHERE omd._awaits_rollback(
            mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
        )
    ),

    placed AS MATERIALIZED (
        SELECT
            m.module_id,
            u.relation
        FROM waiting AS w
        INNER JOIN omd.module AS m ON w.module_id = m.module_id
        CROSS JOIN
            LATERAL omd._undone_tables(
                omd.target_relation(m.table_code), m.insert_instance_column
            ) AS u
        WHERE
            m.platform_code = 'POSTGRES'
            AND m.module_id <> p_module_id
            AND (
                EXISTS (SELECT FROM omd.batch_module AS bm WHERE bm.module_id = m.module_id)
                OR NOT EXISTS (
                    SELECT FROM unnest(omd.pending_rollback(m.module_id)) AS p (id)
                    INNER JOIN omd.module_instance AS mi ON p.id = mi.module_instance_id
                    INNER JOIN omd.source_control AS sc ON p.id = sc.module_instance_id
                    WHERE mi.execution_status_code = 'S'
                )
            )
    )

    SELECT DISTINCT p.module_id
    FROM placed AS p
    WHERE p.relation IN (
        SELECT r.relation
        FROM omd.module AS m
        CROSS JOIN
            LATERAL omd._undone_tables(
                omd.target_relation(m.table_code), m.insert_instance_column
            ) AS u
        CROSS JOIN LATERAL omd._referencing_tables(u.relation) AS r (relation)
        WHERE m.module_id = p_module_id AND m.platform_code = 'POSTGRES'
    );
END;

COMMENT ON FUNCTION omd._referencing_modules IS
'Returns the Modules with a pending rollback whose targets refer by foreign keys, directly or '
'through others, to the target of the Module p_module_id. Locks: none.';
