{#- A hook before a model, in its transaction: begins a run of the model's Module, whose id is the
    stamp of its rows. It is one statement, which dbt executes: where the run may not proceed, it
    fails, and so the model stops. The begin holds the row of the Module until dbt commits, so
    whoever begins it meanwhile would wait as long as the model takes. -#}

{% macro begin(batch_instance_id=none) %}
    {%- if not execute -%}
        {%- do return("") -%}
    {%- elif config.get("incremental_strategy") == "microbatch" -%}
        {%- do exceptions.raise_compiler_error(
            "omd.begin(): a microbatch model commits each batch for itself, so it is not one run; "
            ~ "give it another incremental_strategy, or no hook of omd"
        ) -%}
    {%- endif -%}
    {%- set code = omd.module_code(model) -%}
    {%- do return(omd.do_block(
"DECLARE
    v_code text := " ~ omd.text_literal(code) ~ ";
    v_id bigint;
    v_indicator text;
    v_undone bigint[];
    v_reason text;
    v_lock_timeout text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', '2s', TRUE);
    BEGIN
        CALL omd.begin_module(
            p_module_code => v_code,
            p_batch_instance_id => " ~ omd.batch_instance_id(batch_instance_id) ~ ",
            p_execution_context => " ~ omd.context_literal(model.unique_id) ~ ",
            p_module_instance_id => v_id,
            p_processing_indicator => v_indicator,
            p_instance_array => v_undone,
            p_reason => v_reason
        );
    EXCEPTION
        WHEN lock_not_available THEN
            RAISE EXCEPTION USING
                ERRCODE = 'lock_not_available',
                MESSAGE = format(
                    'OMD A RUNNING: the Module \"%s\" must not run now: another session runs it, or'
                    ' holds rows that it has to undo',
                    v_code
                );
    END;
    PERFORM set_config('lock_timeout', v_lock_timeout, TRUE);
    IF v_indicator = 'R' THEN
        RAISE EXCEPTION USING
            MESSAGE = format(
                'the Module \"%s\" has a pending rollback, which its platform has to execute', v_code
            ),
            HINT = 'A model of dbt is a Module of the platform POSTGRES: omd apply --from dbt target/manifest.json.';
    ELSIF v_indicator IS DISTINCT FROM 'P' THEN
        RAISE EXCEPTION USING
            MESSAGE = format(
                'OMD %s %s: the Module \"%s\" %s',
                v_indicator,
                v_reason,
                v_code,
                CASE v_indicator
                    WHEN 'A' THEN 'must not run now'
                    WHEN 'C' THEN 'need not run now'
                    ELSE 'was answered what this package does not know'
                END
            ),
            DETAIL = coalesce(
                (SELECT r.reason_description FROM omd.reason AS r WHERE r.reason_code = v_reason), ''
            );
    END IF;
    PERFORM set_config('omd.module_instance_id', v_id::text, TRUE);
END"
    )) -%}
{% endmacro %}
