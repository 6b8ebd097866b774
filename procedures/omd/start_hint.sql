-- What a person wrote comes first; else what the last run said about where it ran. No command line
-- and no environment is in it, since none is recorded. BETWEEN keeps the planner to the index of a
-- Module's runs: of one that has none it would walk all runs back by the key.

CREATE OR REPLACE FUNCTION omd.start_hint(
    p_module_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            'Start its job again: '
            || coalesce(
                m.start_hint,
                (
                    SELECT
                        nullif(
                            concat_ws(
                                ', ',
                                'platform ' || (r.execution_context ->> 'platform'),
                                'host ' || (r.execution_context ->> 'host'),
                                'job ' || (r.execution_context ->> 'job')
                            ),
                            ''
                        )
                    FROM omd.module_instance AS r
                    WHERE r.module_id BETWEEN m.module_id AND m.module_id
                    ORDER BY r.module_id DESC, r.module_instance_id DESC
                    LIMIT 1
                )
            ),
            'Start its job again.'
        )
    FROM omd.module AS m
    WHERE
        m.module_id = p_module_id
        AND m.module_kind_code IN (
            SELECT k.module_kind_code FROM omd.module_kind AS k
            WHERE k.begin_routine = 'omd.begin_run'
        )
        AND m.executable IS NULL
        AND m.job IS NULL;
END;

COMMENT ON FUNCTION omd.start_hint IS
'For rooms: Returns how a person starts the Module p_module_id again, where a program outside '
'begins it: the hint that was registered, else platform, host and job of its last run. NULL: no '
'program outside begins it. Locks: none.';
REVOKE ALL ON FUNCTION omd.start_hint FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.start_hint TO omd_reader;
