{#- At the start of a run of dbt: a failover is settled in a transaction of its own, so that no model
    does it inside of its long one while all others wait. -#}

{% macro settle_server() %}
    {%- do return("CALL omd.settle_server()") -%}
{% endmacro %}
