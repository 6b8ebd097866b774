{#- At the end of a run of dbt: a model that failed has left nothing, not even its run, since all was
    one transaction; so its failure is recorded now, as an attempt of its Module. A model that
    omd.begin() has stopped did not fail: it must not, or need not, run. One that can't be recorded
    stops none of the others. -#}

{% macro record_failures(results, batch_instance_id=none) %}
    {%- if not execute -%}
        {%- do return("") -%}
    {%- endif -%}
    {%- set calls = [] -%}
    {%- for result in results if omd.has_failed(result) -%}
        {%- do calls.append(
"    BEGIN
        v_id := NULL;
        CALL omd.record_failure(
            p_module_code => " ~ omd.text_literal(omd.module_code(result.node)) ~ ",
            p_batch_instance_id => " ~ omd.batch_instance_id(batch_instance_id) ~ ",
            p_event_detail => " ~ omd.text_literal(result.message or result.status) ~ ",
            p_event_return_code_details => 'dbt',
            p_execution_context => " ~ omd.context_literal(result.node.unique_id) ~ ",
            p_start_datetime => " ~ omd.start_literal(result) ~ ",
            p_module_instance_id => v_id
        );
    EXCEPTION
        WHEN OTHERS THEN
            IF SQLSTATE <> 'OM002' OR " ~ omd.is_begun(result.node) ~ " THEN
                v_problems := v_problems || (SQLERRM || ' (' || SQLSTATE || ')');
            END IF;
    END;
"
        ) -%}
    {%- endfor -%}
    {%- if calls -%}
        {%- do return(
            omd.do_block(
"DECLARE
    v_id bigint;
    v_problems text[] := '{}';
BEGIN
" ~ calls | join ~ "    PERFORM set_config('omd.dbt_problems', array_to_string(v_problems, E'\\n'), FALSE);
END"
            ) ~ ";\nCOMMIT;\n" ~ omd.do_block(
"BEGIN
    IF current_setting('omd.dbt_problems') <> '' THEN
        RAISE EXCEPTION USING
            MESSAGE = 'a failure could not be recorded: ' || current_setting('omd.dbt_problems');
    END IF;
END"
            )
        ) -%}
    {%- endif -%}
{% endmacro %}

{#- Whether a result is a failure of a model, and not its stop by omd.begin(). dbt puts a line before
    the message of the server. -#}
{% macro has_failed(result) %}
    {%- if result.node.resource_type not in ["model", "seed", "snapshot"]
        or result.status | string not in ["error", "fail", "runtime error", "partial success"] -%}
        {%- do return(false) -%}
    {%- endif -%}
    {%- for line in ((result.message or "") | string).split("\n")[:2] -%}
        {%- if line.strip().startswith("OMD A ") or line.strip().startswith("OMD C ") -%}
            {%- do return(false) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do return(true) -%}
{% endmacro %}

{#- When the result's node started, by the clock of dbt, which may be ahead of the server's. -#}
{% macro start_literal(result) %}
    {%- for step in result.timing if step.started_at -%}
        {%- set started = step.started_at | string -%}
        {%- if not modules.re.search("(Z|[+-]\\d\\d:?\\d\\d)$", started) -%}
            {%- set started = started ~ "Z" -%}
        {%- endif -%}
        {%- do return(
            "least(" ~ omd.text_literal(started) ~ "::timestamptz, clock_timestamp())"
        ) -%}
    {%- endfor -%}
    {%- do return("NULL") -%}
{% endmacro %}

{#- Whether a hook of the node calls omd.begin(), as SQL. -#}
{% macro is_begun(node) %}
    {%- do return("TRUE" if "macro.omd.begin" in node.depends_on.macros else "FALSE") -%}
{% endmacro %}
